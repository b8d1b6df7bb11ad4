import type { EntriesPage, FolderListing } from '@lade/core/wire'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { carOf, directoryDag, type TestDag } from '../../../retrieval/testing-dags.ts'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'
import { answerAt, BROWSER, uploadDag } from '../gateway/testing-folders.ts'

describe('GET /p/{cid}/{path}', () => {
  let service: RunningService
  let token: string
  beforeAll(async () => {
    service = await runService({ env: { LADE_SIGNUP: 'open', LADE_HOST: '127.0.0.1' } })
    token = (await service.signUp()).token
  })
  afterAll(() => service.remove())

  const folder = (mark: string): Promise<TestDag> =>
    directoryDag({
      'index.html': Buffer.from(`<h1>${mark}</h1>`),
      'sub/a.txt': Buffer.from(`${mark} a`),
      challenge: Buffer.from(`${mark} challenge`),
    })

  it('is the folder behind a slash, and the CAR without one, as it was', async () => {
    const dag = await folder('public')
    const root = await uploadDag(service, dag)
    const car = await answerAt(service, `/p/${root}`, { headers: BROWSER })
    expect([car.status, car.headers['content-type']]).toEqual([200, 'application/vnd.ipld.car'])
    expect(car.bytes.equals(await carOf(dag.root, dag.blocks))).toBe(true)
    const page = await answerAt(service, `/p/${root}/`, { headers: BROWSER })
    expect([page.status, page.text]).toEqual([200, '<h1>public</h1>'])
    expect(page.headers).toMatchObject({ 'cache-control': 'public, max-age=3600', 'x-ipfs-path': `/ipfs/${root}/` })
    const file = await answerAt(service, `/p/${root}/sub/a.txt`)
    expect([file.status, file.text]).toEqual([200, 'public a'])
    const redirect = await answerAt(service, `/p/${root}/sub?download=true`)
    expect([redirect.status, redirect.headers.location]).toEqual([301, `/p/${root}/sub/?download=true`])
    const list = await answerAt(service, `/p/${root}/sub/`)
    expect(list.text).toContain(`/p/<a href="/p/${root}">${root}</a>/<a href="/p/${root}/sub">sub</a>`)
    expect(list.text).toContain(`<a href="/p/${root}/sub/a.txt">a.txt</a>`)
    expect((await answerAt(service, `/p/${root}/nothing`)).json()).toMatchObject({ error: 'not_found' })
  })

  it('gives what is inside by its own CID: files as files, and folders as a CAR and behind a slash', async () => {
    const big = Buffer.alloc(600_000, 'inside ')
    const dag = await directoryDag({ 'sub/a.txt': Buffer.from('inside a'), 'sub/big.bin': big })
    const root = await uploadDag(service, dag, { token, headers: { 'x-filename': 'folder' } })
    const cidOf = async (path: string): Promise<string> => {
      const page = await service.fetch(`/api/files/${root}/entries?path=${path.split('/').slice(0, -1).join('/')}`)
      const { entries } = (await page.json()) as EntriesPage
      return entries.find(({ name }) => name === path.split('/').at(-1))?.cid ?? ''
    }
    const file = await answerAt(service, `/p/${await cidOf('sub/a.txt')}`)
    expect([file.status, file.text, file.headers['content-type']]).toEqual([
      200,
      'inside a',
      'application/octet-stream',
    ])
    expect(file.headers['content-disposition'] ?? '').not.toContain('folder')
    const bytes = await answerAt(service, `/p/${await cidOf('sub/big.bin')}`, { headers: { range: 'bytes=5-9' } })
    expect([bytes.status, bytes.text]).toEqual([206, big.subarray(5, 10).toString()])
    const sub = await cidOf('sub')
    const car = await answerAt(service, `/p/${sub}`)
    expect([car.status, car.headers['content-type']]).toEqual([200, expect.stringContaining('ipld.car')])
    expect(car.text).toContain('inside a')
    expect((await answerAt(service, `/p/${sub}/a.txt`)).text).toBe('inside a')
    const entry = await service.fetch(`/api/files/${root}`, { headers: bearer(token) })
    expect(await entry.json()).toMatchObject({ kind: 'folder', files: 2, bytes: 600_008 })
  })

  it('gives a file by itself, once there is one, in place of what was inside of a CAR', async () => {
    const bytes = Buffer.from('inside, and then by itself')
    const dag = await directoryDag({ 'a.txt': bytes })
    const root = await uploadDag(service, dag, { token })
    const page = await service.fetch(`/api/files/${root}/entries`)
    const { entries } = (await page.json()) as EntriesPage
    const cid = entries[0]?.cid ?? ''
    for (let turn = 0; turn < 2; turn += 1) {
      expect((await answerAt(service, `/p/${cid}`)).headers['content-type']).toBe('application/octet-stream')
    }
    const headers = { ...bearer(token), 'content-type': 'text/plain' }
    const staged = await service.fetch(`/api/upload?cid=${cid}`, { method: 'POST', headers, body: bytes })
    expect(staged.status).toBe(200)
    const file = await answerAt(service, `/p/${cid}`)
    expect([file.text, file.headers['content-type']]).toEqual([String(bytes), 'text/plain'])
  })

  it('has formats as the gateway has', async () => {
    const root = await uploadDag(service, await folder('formats'))
    const json = await answerAt(service, `/p/${root}/sub`, { headers: { accept: 'application/json' } })
    expect(json.json<FolderListing>().entries.map(({ name }) => name)).toEqual(['a.txt'])
    const raw = await answerAt(service, `/p/${root}/sub/a.txt?format=raw`)
    expect(raw.text).toBe('formats a')
    const car = await answerAt(service, `/p/${root}/sub`, { headers: { accept: 'application/vnd.ipld.car' } })
    expect(car.headers['content-location']).toBe(`/p/${root}/sub?format=car`)
  })

  it('leaves challenges their address', async () => {
    const root = await uploadDag(service, await folder('challenged'))
    const answer = await answerAt(service, `/p/${root}/challenge`)
    expect([answer.status, answer.headers.allow]).toEqual([405, 'POST'])
    expect((await answerAt(service, `/ipfs/${root}/challenge`)).text).toBe('challenged challenge')
  })

  it('shows what is private to its owner and under a share link, and is not there for others', async () => {
    const root = await uploadDag(service, await folder('private'), { token, headers: { 'x-visibility': 'private' } })
    const other = (await service.signUp('other@example.org')).token
    for (const headers of [{}, bearer(other)]) {
      for (const path of ['', 'sub/a.txt', 'sub/', 'nothing']) {
        const answer = await answerAt(service, `/p/${root}/${path}`, { headers })
        expect([answer.status, answer.json<{ error: string }>().error], path).toEqual([404, 'not_found'])
      }
    }
    expect((await answerAt(service, `/ipfs/${root}/sub/a.txt`, { headers: bearer(token) })).status).toBe(404)
    const own = await answerAt(service, `/p/${root}/sub/a.txt`, { headers: bearer(token) })
    expect([own.status, own.text]).toEqual([200, 'private a'])
    expect(own.headers).toMatchObject({ 'cache-control': 'private, no-cache', vary: 'Accept, Authorization' })

    const shared = await service.fetch(`/api/files/${root}/share`, {
      method: 'POST',
      headers: { ...bearer(token), 'content-type': 'application/json' },
      body: JSON.stringify({ ttlSeconds: 60 }),
    })
    const { search } = new URL(((await shared.json()) as { url: string }).url)
    expect((await answerAt(service, `/p/${root}/sub/a.txt${search}`)).text).toBe('private a')
    const list = await answerAt(service, `/p/${root}/sub/${search}`)
    expect(list.text).toContain(`<a href="/p/${root}/sub/a.txt${search}">a.txt</a>`)
    expect(list.text).not.toContain('href="/ipfs/')
    const redirect = await answerAt(service, `/p/${root}/sub${search}`)
    expect(redirect.headers.location).toBe(`/p/${root}/sub/${search}`)
  })

  it('is gone when the upload is', async () => {
    const root = await uploadDag(service, await folder('removed'), { token })
    expect((await answerAt(service, `/p/${root}/sub/a.txt`)).status).toBe(200)
    await service.fetch(`/api/files/${root}`, { method: 'DELETE', headers: bearer(token) })
    expect((await answerAt(service, `/p/${root}/sub/a.txt`)).status).toBe(410)
    expect((await answerAt(service, `/ipfs/${root}/sub/a.txt`)).status).toBe(410)
  })

  it.each(['myfile0001', 'ab'.repeat(32)])('error: %s has no paths', async (id) => {
    expect((await answerAt(service, `/p/${id}/a`)).json()).toMatchObject({ error: 'invalid_cid' })
  })
})
