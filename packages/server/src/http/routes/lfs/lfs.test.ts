import type { LfsAnswer, UploadResult, UsageResult } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'

const bytesOf = (text: string): Buffer => Buffer.from(`${text} as an object`)
const objectOf = (text: string) => ({ oid: sha256Hex(bytesOf(text)), size: bytesOf(text).length })
const basic = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
})

interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly objects: readonly LfsAnswer[]
  readonly message: string
}

let service: RunningService
let token: string
beforeAll(async () => {
  service = await runService()
  token = (await service.signUp()).token
})
afterAll(() => service?.remove())

async function batch(
  operation: string,
  objects: readonly object[],
  { headers = basic('git', token), more = {} }: { headers?: Record<string, string>; more?: object } = {},
): Promise<Answered> {
  const response = await service.fetch('/lfs/site/objects/batch', {
    method: 'POST',
    headers: { accept: 'application/vnd.git-lfs+json', 'content-type': 'application/vnd.git-lfs+json', ...headers },
    body: JSON.stringify({ operation, transfers: ['basic'], objects, ...more }),
  })
  const body = (await response.json()) as { objects: readonly LfsAnswer[]; message: string }
  return { status: response.status, headers: response.headers, ...body }
}

/** Uploads as git-lfs does: where the batch says. */
async function push(text: string, as = basic('git', token), body = bytesOf(text)): Promise<Response> {
  const { objects } = await batch('upload', [objectOf(text)], { headers: as })
  return fetch(objects[0]?.actions?.upload?.href ?? '', { method: 'PUT', headers: as, body: Uint8Array.from(body) })
}

describe('Git LFS', () => {
  it('takes an object, says that it is stored, and gives it back by a link without a token', async () => {
    const stored = await push('first')
    expect(stored.status).toBe(200)
    expect((await stored.json()) as UploadResult).toMatchObject({ visibility: 'private', term: '365 days' })
    const object = objectOf('first')
    expect((await batch('upload', [object])).objects).toEqual([{ ...object, visibility: 'private' }])
    const { objects } = await batch('download', [object])
    const link = objects[0]?.actions?.download
    expect(Date.parse(link?.expires_at ?? '')).toBeGreaterThan(Date.now() + 3_600_000)
    const got = await fetch(link?.href ?? '', { headers: { range: 'bytes=2-' } })
    expect([got.status, await got.text()]).toEqual([206, bytesOf('first').subarray(2).toString()])
  })

  it.each([
    ['the password of Basic credentials', () => basic('any', token)],
    ['their user name', () => basic(token, 'x-oauth-basic')],
    ['a bearer token', () => bearer(token)],
  ])('takes the token as %s', async (_, headers) => {
    const { status, headers: sent } = await batch('upload', [objectOf('unsent')], { headers: headers() })
    expect([status, sent.get('content-type')]).toEqual([200, expect.stringContaining('application/vnd.git-lfs+json')])
  })

  it('asks for a token, in the way that git understands, and says why', async () => {
    for (const [operation, headers] of [
      ['upload', {}],
      ['upload', basic('git', 'pk_live_a.b.c')],
      ['download', {}],
    ] as const) {
      const { status, headers: sent, message } = await batch(operation, [objectOf('unsent')], { headers })
      expect([status, sent.get('lfs-authenticate')]).toEqual([401, expect.stringMatching(/^Basic realm=/)])
      expect(message.length).toBeGreaterThan(20)
    }
    const put = await service.fetch(`/lfs/site/objects/${objectOf('unsent').oid}`, {
      method: 'PUT',
      body: bytesOf('unsent'),
    })
    expect([put.status, put.headers.get('lfs-authenticate')]).toEqual([401, expect.stringMatching(/^Basic /)])
  })

  it('keeps accounts apart: private objects of others are absent, and are not counted as stored', async () => {
    await push('mine')
    const other = basic('git', (await service.signUp('bob@example.org')).token)
    const [upload] = (await batch('upload', [objectOf('mine')], { headers: other })).objects
    expect(upload?.actions?.upload).toBeDefined()
    const [download] = (await batch('download', [objectOf('mine')], { headers: other })).objects
    expect(download?.error?.code).toBe(404)
  })

  it('gives public objects to everybody', async () => {
    const bytes = bytesOf('public')
    await service.upload(bytes)
    const { status, objects } = await batch('download', [objectOf('public')], { headers: {} })
    expect(status).toBe(200)
    const got = await fetch(objects[0]?.actions?.download?.href ?? '')
    expect(await got.text()).toBe(bytes.toString())
  })

  it('leaves a file that was uploaded in another way what it is, in all but its term', async () => {
    const bytes = bytesOf('known file')
    await service.upload(bytes, {
      token,
      headers: { 'x-filename': 'a.txt', 'content-type': 'text/plain', 'x-term-days': '9' },
    })
    const { oid } = objectOf('known file')
    const body = Uint8Array.from(bytes)
    const put = await service.fetch(`/lfs/site/objects/${oid}`, { method: 'PUT', headers: basic('git', token), body })
    expect(put.status).toBe(200)
    const entry = await service.fetch(`/api/files/${oid}`, { headers: bearer(token) })
    const kept = { visibility: 'public', contentType: 'text/plain', filename: 'a.txt', term: '365 days' }
    expect(await entry.json()).toMatchObject(kept)
  })

  it('refuses a corrupted body, and leaves and charges nothing', async () => {
    const as = basic('git', (await service.signUp('carol@example.org')).token)
    const refused = await push('corrupted', as, Buffer.from('something else'))
    // git-lfs takes 422 for something else, and its push succeeds.
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({
      error: 'digest_mismatch',
      message: expect.stringContaining('Nothing was stored'),
    })
    const usage = await service.fetch('/api/usage', {
      headers: bearer((await service.signUp('carol@example.org')).token),
    })
    expect(((await usage.json()) as UsageResult).today).toMatchObject({ bytes: 0, reservedBytes: 0 })
  })

  it('says of every object by itself what is wrong with it', async () => {
    await push('known')
    const known = objectOf('known')
    const { status, objects } = await batch('upload', [
      { oid: 'x', size: 1 },
      { ...known, oid: known.oid.toUpperCase() },
      { ...known, size: known.size + 1 },
      { ...objectOf('unsent'), size: -1 },
      { ...objectOf('unsent'), size: 2 ** 50 },
      objectOf('unsent'),
    ])
    expect(status).toBe(200)
    expect(objects.map(({ error }) => error?.code)).toEqual([422, 422, 422, 422, 413, undefined])
    expect(objects[2]?.error?.message).toBe(`The object has ${known.size} bytes, not ${known.size + 1}.`)
  })

  it.each([
    ['an unknown operation', { operation: 'verify' }],
    ['another hash', { hash_algo: 'sha512' }],
    ['no objects', { objects: undefined }],
    ['too many objects', { objects: Array.from({ length: 1001 }, () => objectOf('unsent')) }],
  ])('refuses a batch with %s', async (_, more) => {
    const { status, message } = await batch('upload', [], { more })
    expect(status).toBe(400)
    expect(message).toMatch(/\.$/)
  })

  it.each(['/lfs/a b/objects/batch', '/lfs//objects/batch'])('refuses the repository name in %s', async (path) => {
    const response = await service.fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
    expect([400, 404]).toContain(response.status)
  })

  it('names an object that was removed, and takes it again', async () => {
    await push('removed')
    const { oid } = objectOf('removed')
    await service.fetch(`/api/files/${oid}`, { method: 'DELETE', headers: bearer(token) })
    const [ended] = (await batch('download', [objectOf('removed')])).objects
    expect(ended).toMatchObject({
      oid,
      error: { code: 410, message: expect.stringContaining('was removed by its owner') },
    })
    expect((await push('removed')).status).toBe(200)
  })
})
