import { buildDirectory, type PathEntry } from '@lade/core/dag'
import type {
  DealEntry,
  DirectoryRequest,
  EntriesPage,
  FileEntry,
  FileList,
  UploadResult,
  UsageResult,
} from '@lade/core/wire'
import { sha256 } from '@lade/node/hashing/sha256'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { carOf, fileDag } from '../../../retrieval/testing-dags.ts'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'

const RAW = 0x55

/** A file as the import profile unixfs-v1-2025 has it, of one chunk. */
interface SmallFile {
  readonly path: string
  readonly bytes: Uint8Array
  readonly cid: string
}

const fileAt = (path: string, text: string): SmallFile => {
  const bytes = Buffer.from(text)
  return { path, bytes, cid: CID.createV1(RAW, createDigest(0x12, sha256.of(bytes))).toString() }
}
const entriesOf = (files: readonly SmallFile[]) => files.map(({ path, cid }) => ({ path, cid }))
const rootOf = (files: readonly SmallFile[], others: readonly PathEntry[] = []): string =>
  buildDirectory({
    sha256,
    entries: [
      ...files.map(
        ({ path, bytes, cid }): PathEntry => ({
          kind: 'file',
          path,
          cid: CID.parse(cid),
          dagBytes: bytes.length,
          sizeBytes: bytes.length,
        }),
      ),
      ...others,
    ],
  }).root.toString()

describe('POST /api/directories', () => {
  let service: RunningService
  let token: string
  let other: string
  beforeAll(async () => {
    service = await runService({ env: { LADE_SIGNUP: 'open', LADE_HOST: '127.0.0.1' } })
    token = (await service.signUp()).token
    other = (await service.signUp('other@example.org')).token
  })
  afterAll(() => service.remove())

  const send = async (files: readonly SmallFile[], headers: Record<string, string> = {}, by = token) => {
    for (const { bytes, cid } of files) {
      const { status } = await service.upload(bytes, { cid, token: by, headers })
      expect(status).toBe(200)
    }
  }
  const make = (body: DirectoryRequest, { by = token, cid = '', headers = {} } = {}) =>
    service.fetch(`/api/directories${cid === '' ? '' : `?cid=${cid}`}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...bearer(by), ...headers },
      body: JSON.stringify(body),
    })
  const made = async (...args: Parameters<typeof make>): Promise<UploadResult> => {
    const response = await make(...args)
    const answer = await response.json()
    expect([response.status, answer]).toEqual([200, expect.anything()])
    return answer as UploadResult
  }
  const refusal = async (...args: Parameters<typeof make>): Promise<Record<string, unknown>> => {
    const response = await make(...args)
    return { status: response.status, ...((await response.json()) as object) }
  }
  const get = async (path: string, by?: string) => {
    const response = await service.fetch(path, { headers: by === undefined ? {} : bearer(by) })
    return { status: response.status, text: await response.text() }
  }
  const usage = async (by = token) =>
    (await (await service.fetch('/api/usage', { headers: bearer(by) })).json()) as UsageResult

  it('makes a folder of files that stay files, and says which root it is', async () => {
    const files = [fileAt('index.html', '<h1>one</h1>'), fileAt('docs/a.txt', 'one a'), fileAt('docs/b.txt', 'one b')]
    await send(files)
    const before = await usage()
    const others = [
      { kind: 'folder', path: 'empty' },
      { kind: 'symlink', path: 'link', target: 'docs/a.txt' },
    ] as const
    const folder = await made({ entries: [...entriesOf(files), ...others] })
    const root = rootOf(files, others)
    expect(folder).toMatchObject({ cid: root, kind: 'folder', files: 3, bytes: 22, visibility: 'public' })
    expect(folder.retrievalUrl).toMatch(new RegExp(`/p/${root}/$`))
    expect((await get(`/p/${root}/`)).text).toBe('<h1>one</h1>')
    expect((await get(`/ipfs/${root}/docs/b.txt`)).text).toBe('one b')
    const after = await usage()
    const charged = after.today.bytes - before.today.bytes
    expect(charged).toBe(folder.size - 22)
    const list = (await (await service.fetch('/api/files', { headers: bearer(token) })).json()) as FileList
    expect(list.files.slice(0, 4).map(({ cid, kind }) => [cid, kind])).toEqual([
      [root, 'folder'],
      ...files.toReversed().map(({ cid }) => [cid, undefined]),
    ])
    expect(await made({ entries: [...entriesOf(files), ...others] }, { cid: root })).toMatchObject({ cid: root })
    expect((await usage()).today.bytes).toBe(after.today.bytes)
  })

  it('is the whole CAR at its root without a slash', async () => {
    const files = [fileAt('a.txt', 'car a'), fileAt('sub/b.txt', 'car b')]
    await send(files)
    const { cid } = await made({ entries: entriesOf(files) })
    const response = await service.fetch(`/p/${cid}`)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, expect.stringContaining('ipld.car')])
    const car = Buffer.from(await response.arrayBuffer())
    for (const { bytes } of files) expect(car.includes(Buffer.from(bytes))).toBe(true)
    const again = await runService({ env: {} })
    try {
      const headers = { 'content-type': 'application/vnd.ipld.car' }
      expect((await again.upload(car, { cid, headers })).status).toBe(200)
      expect(await (await again.fetch(`/p/${cid}/sub/b.txt`)).text()).toBe('car b')
    } finally {
      await again.remove()
    }
  })

  it('takes what was sent for it: one entry in the listing, until it is removed', async () => {
    const files = [fileAt('a.txt', 'taken a'), fileAt('b.txt', 'taken b')]
    await send(files)
    const entries = entriesOf(files).map((entry) => ({ ...entry, keep: false }))
    const { cid } = await made({ entries, filename: 'my site' })
    const live = (await (await service.fetch('/api/files?q=my%20site', { headers: bearer(token) })).json()) as FileList
    expect(live.files.map((file) => [file.cid, file.files, file.bytes])).toEqual([[cid, 2, 14]])
    const part = await service.fetch(`/api/files/${files[0]?.cid}`, { headers: bearer(token) })
    expect(((await part.json()) as FileEntry).status).toBe('composed')
    for (const file of files) expect((await get(`/p/${file.cid}`)).text).toBe(Buffer.from(file.bytes).toString())
    await service.fetch(`/api/files/${cid}`, { method: 'DELETE', headers: bearer(token) })
    expect((await get(`/p/${cid}/a.txt`)).status).toBe(410)
    for (const file of files) expect((await get(`/p/${file.cid}`)).status).toBe(410)
  })

  it('has one deal, which has all its files proved', async () => {
    const big = Buffer.alloc(1_100_000, 'deal ')
    const dag = await fileDag(big)
    await service.upload(big, { cid: dag.root.toString(), token })
    const files = [fileAt('a.txt', 'deal a'), fileAt('b.txt', 'deal b')]
    await send(files)
    const entries = [...entriesOf(files), { path: 'big.bin', cid: dag.root.toString() }]
    const { dealId } = await made({ entries: entries.map((entry) => ({ ...entry, keep: false })) })
    const deal = async () => {
      const response = await service.fetch(`/api/deals/${dealId}`, { headers: bearer(token) })
      return (await response.json()) as DealEntry
    }
    await expect.poll(async () => (await deal()).status, { timeout: 20_000 }).toBe('active')
    const { copies, provedCopies, size } = await deal()
    // The small files with the directories, and the big one.
    expect([copies.length, provedCopies, size > 1_100_000]).toEqual([2, 1, true])
  })

  it('holds the root against the cid that is asked for', async () => {
    const files = [fileAt('x.txt', 'mismatch')]
    await send(files)
    const wrong = rootOf([fileAt('y.txt', 'mismatch')])
    expect(await refusal({ entries: entriesOf(files) }, { cid: wrong })).toMatchObject({
      status: 422,
      error: 'cid_mismatch',
      expected: wrong,
      actual: rootOf(files),
    })
  })

  it('names what is missing, and records nothing', async () => {
    const files = [fileAt('here.txt', 'here'), fileAt('never.txt', 'never sent'), fileAt('hidden.txt', 'hidden')]
    await send(files.slice(0, 1))
    await send(files.slice(2), { 'x-visibility': 'private' }, other)
    const before = await usage()
    const missing = files.slice(1).map(({ cid }) => cid)
    expect(await refusal({ entries: entriesOf(files) })).toMatchObject({
      status: 422,
      error: 'missing_entries',
      missing,
      count: 2,
    })
    expect(await usage()).toEqual(before)
  })

  it('charges public files of others', async () => {
    const files = [fileAt('theirs.txt', 'x'.repeat(5000))]
    await send(files, {}, other)
    const before = await usage()
    const folder = await made({ entries: entriesOf(files) })
    expect((await usage()).today.bytes - before.today.bytes).toBe(folder.size)
    expect(folder.size).toBeGreaterThan(5000)
  })

  it('has private files in a private folder alone, which is there for its owner and by a share link', async () => {
    const files = [fileAt('index.html', '<p>private'), fileAt('b.txt', 'private b')]
    await send(files, { 'x-visibility': 'private' })
    const entries = entriesOf(files).map((entry) => ({ ...entry, keep: false }))
    expect(await refusal({ entries })).toMatchObject({
      status: 409,
      error: 'private_entries',
      entries: files.map(({ cid }) => cid),
    })
    const { cid } = await made({ entries }, { headers: { 'x-visibility': 'private' } })
    for (const path of [`/p/${cid}`, `/p/${cid}/`, `/p/${cid}/b.txt`, `/p/${files[1]?.cid}`, `/ipfs/${cid}/b.txt`]) {
      expect([path, (await get(path)).status]).toEqual([path, 404])
      expect([path, (await get(path, other)).status]).toEqual([path, 404])
    }
    for (const path of [`/p/${cid}/b.txt`, `/p/${files[1]?.cid}`]) {
      expect((await get(path, token)).text).toBe('private b')
    }
    expect((await get(`/p/${cid}`, token)).text).toContain('private b')
    const shared = await service.fetch(`/api/files/${cid}/share`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...bearer(token) },
      body: JSON.stringify({ ttlSeconds: 60 }),
    })
    const { url } = (await shared.json()) as { readonly url: string }
    const { pathname } = new URL(url)
    expect(pathname).toMatch(new RegExp(`^/share/[^/]+/${cid}/$`))
    expect((await get(pathname)).text).toBe('<p>private')
    expect((await get(`${pathname}b.txt`)).text).toBe('private b')
    expect((await get(`${pathname}nothing`)).status).toBe(404)
    expect((await get(pathname.replace(cid, files[1]?.cid ?? ''))).status).toBe(403)
    expect((await get(pathname.replace('/share/', '/share/x'))).status).toBe(403)
    const head = await service.fetch(pathname)
    await head.body?.cancel()
    expect(head.headers.get('referrer-policy')).toBe('no-referrer')
    expect(head.headers.get('cache-control')).toContain('private')
  })

  it('links to files of several blocks, and to those that came as a CAR', async () => {
    const big = Buffer.alloc(2_500_000, 'big file ')
    const dag = await fileDag(big)
    expect((await service.upload(big, { cid: dag.root.toString(), token })).status).toBe(200)
    const inCar = await fileDag(Buffer.alloc(1_500_000, 'in a car '), { profile: 'unixfs-v0-2015' })
    const headers = { 'content-type': 'application/vnd.ipld.car' }
    const car = await carOf(inCar.root, inCar.blocks)
    expect((await service.upload(car, { cid: inCar.root.toString(), token, headers })).status).toBe(200)
    const sumOf = (blocks: ReadonlyMap<string, Uint8Array>) =>
      [...blocks.values()].reduce((sum, { length }) => sum + length, 0)
    const entry = (
      path: string,
      { root, blocks }: Awaited<ReturnType<typeof fileDag>>,
      sizeBytes: number,
    ): PathEntry => ({
      kind: 'file',
      path,
      cid: root,
      dagBytes: sumOf(blocks),
      sizeBytes,
    })
    const expected = buildDirectory({ sha256, entries: [entry('big.bin', dag, 2_500_000)] }).root.toString()
    const entries = [{ path: 'big.bin', cid: dag.root.toString() }]
    expect((await made({ entries })).cid).toBe(expected)
    const both = await made({ entries: [...entries, { path: 'car.bin', cid: inCar.root.toString() }] })
    expect(both).toMatchObject({ files: 2, bytes: 4_000_000 })
    const response = await service.fetch(`/p/${both.cid}/car.bin`)
    expect(Buffer.from(await response.arrayBuffer()).equals(Buffer.alloc(1_500_000, 'in a car '))).toBe(true)
    const page = await service.fetch(`/api/files/${both.cid}/entries`)
    expect(((await page.json()) as EntriesPage).entries).toEqual([
      { name: 'big.bin', kind: 'file', cid: dag.root.toString(), size: 2_500_000 },
      { name: 'car.bin', kind: 'file', cid: inCar.root.toString(), size: 1_500_000 },
    ])
  })

  it('has empty files, which nobody has to send', async () => {
    const empty = fileAt('empty.txt', '')
    const folder = await made({ entries: entriesOf([empty]) })
    expect(folder).toMatchObject({ cid: rootOf([empty]), files: 1, bytes: 0 })
    expect(await get(`/p/${folder.cid}/empty.txt`)).toEqual({ status: 200, text: '' })
  })

  it('changes a folder: what is put and removed is charged and kept, the rest is shared', async () => {
    const files = Array.from({ length: 30 }, (_, index) => fileAt(`sub${index % 3}/file ${index}.txt`, `from ${index}`))
    await send(files)
    const keep = entriesOf(files).map((entry) => ({ ...entry, keep: false }))
    const first = await made({ entries: keep })
    const added = fileAt('sub1/new.txt', 'new one')
    const changed = fileAt('sub0/file 0.txt', 'from zero')
    await send([added, changed])
    const put = entriesOf([added, changed]).map((entry) => ({ ...entry, keep: false }))
    const second = await made({ from: first.cid, put, remove: ['sub2'] })
    const after = [...files.filter(({ path }) => !path.startsWith('sub2') && path !== changed.path), added, changed]
    expect(second).toMatchObject({
      cid: rootOf(after),
      files: after.length,
      bytes: after.reduce((sum, { bytes }) => sum + bytes.length, 0),
    })
    await service.fetch(`/api/files/${first.cid}`, { method: 'DELETE', headers: bearer(token) })
    for (const { path, bytes } of after) {
      const url = `/p/${second.cid}/${path.split('/').map(encodeURIComponent).join('/')}`
      expect([path, (await get(url)).text]).toEqual([path, Buffer.from(bytes).toString()])
    }
    expect((await get(`/p/${second.cid}/sub2/`)).status).toBe(404)
    const gone = files.find(({ path }) => path.startsWith('sub2'))
    await expect.poll(async () => (await get(`/p/${gone?.cid}`)).status, { timeout: 15_000 }).toBe(410)
  })

  it('lists a folder in pages', async () => {
    const files = Array.from({ length: 5 }, (_, index) => fileAt(`sub/${index}.txt`, `page ${index}`))
    await send(files)
    const { cid } = await made({ entries: entriesOf(files) })
    const page = async (query: string) => {
      const response = await service.fetch(`/api/files/${cid}/entries?${query}`)
      return { status: response.status, ...((await response.json()) as EntriesPage) }
    }
    expect((await page('')).entries).toMatchObject([{ name: 'sub', kind: 'folder', size: null }])
    const first = await page('path=sub&limit=3')
    expect(first.entries.map(({ name }) => name)).toEqual(['0.txt', '1.txt', '2.txt'])
    const second = await page(`path=sub&limit=3&cursor=${first.nextCursor}`)
    expect([second.entries.map(({ name }) => name), second.nextCursor]).toEqual([['3.txt', '4.txt'], null])
    expect(await page('path=nothing')).toMatchObject({ status: 404, error: 'not_found' })
    expect(await page('path=sub/0.txt')).toMatchObject({ status: 404, error: 'not_found' })
    expect(await page('cursor=%00')).toMatchObject({ status: 400, error: 'invalid_cursor' })
  })

  it.each<[string, DirectoryRequest]>([
    ['a path that leads up', { entries: [{ path: '../a', cid: fileAt('', 'here').cid }] }],
    ['an empty name', { entries: [{ path: 'a//b', cid: fileAt('', 'here').cid }] }],
    ['a NUL', { entries: [{ path: 'a\0b', kind: 'folder' }] }],
    ['a name that is too long', { entries: [{ path: 'x'.repeat(256), kind: 'folder' }] }],
    ['two entries of one path', { entries: ['a', 'a'].map((path) => ({ path, kind: 'folder' as const })) }],
    [
      'a folder and a file of one name',
      {
        entries: [
          { path: 'a', cid: fileAt('', 'here').cid },
          { path: 'a/b', kind: 'folder' },
        ],
      },
    ],
    ['an opaque id', { entries: [{ path: 'a', cid: 'myfile0001' }] }],
    ['a digest that is no CID', { entries: [{ path: 'a', cid: 'ab'.repeat(32) }] }],
    ['nothing at all', {}],
    ['entries and from', { entries: [], from: rootOf([fileAt('a', 'here')]) }],
  ])('refuses %s, and leaves nothing', async (_title, body) => {
    await send([fileAt('', 'here')])
    const before = await usage()
    expect(await refusal(body)).toMatchObject({ status: 400 })
    expect(await usage()).toEqual(before)
  })

  it('needs the scope put, and takes sponsored folders of public files', async () => {
    const files = [fileAt('s.txt', 'sponsored')]
    await service.upload(files[0]?.bytes ?? new Uint8Array(), { cid: files[0]?.cid ?? '' })
    const response = await service.fetch('/api/directories', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ entries: entriesOf(files) }),
    })
    expect(await response.json()).toMatchObject({ cid: rootOf(files), sponsored: true, kind: 'folder' })
  })
})

// By itself: the block of an empty file is found in any other folder that has it.
it('a change of a folder brings the block of an empty file', async () => {
  const service = await runService({ env: { LADE_SIGNUP: 'open', LADE_HOST: '127.0.0.1' } })
  try {
    const { token } = await service.signUp()
    const [page, empty] = [fileAt('page.txt', 'words'), fileAt('empty.txt', '')]
    await service.upload(page.bytes, { cid: page.cid, token })
    const make = async (body: DirectoryRequest): Promise<UploadResult> => {
      const response = await service.fetch('/api/directories', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...bearer(token) },
        body: JSON.stringify(body),
      })
      return (await response.json()) as UploadResult
    }
    const before = await make({ entries: entriesOf([page]) })
    const after = await make({ from: before.cid, put: entriesOf([empty]) })
    expect(after).toMatchObject({ cid: rootOf([page, empty]), files: 2, bytes: 5 })
    const response = await service.fetch(`/p/${after.cid}/empty.txt`)
    expect([response.status, await response.text()]).toEqual([200, ''])
  } finally {
    await service.remove()
  }
})
