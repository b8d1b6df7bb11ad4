import { createServer, get as httpGet, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { aliasesOf } from '@lade/core/content'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { BlobStore } from '../../../blobs/blob-store.ts'
import { carOf, fileDag, patternBytes } from '../../../retrieval/testing-dags.ts'
import { bearer } from '../../../testing/running/running-service.ts'
import { parseRange } from '../../byte-range.ts'
import { type LocatingStore, locatingStore, type Service, startService } from './testing-offload.ts'

const BIG = patternBytes(400_000, 7)
const SMALL = patternBytes(200_000, 8)
/** Big enough, and kept in the records. */
const INLINE = patternBytes(300_000, 9)
const URL_SECONDS = 100

const REDIRECTING = { LADE_STORAGE: 's3://files', LADE_S3_REDIRECT_SECONDS: String(URL_SECONDS) }

/** An object store that answers the bytes of `blobs` by their digest, under a tag of its own. */
function answerBlob(blobs: BlobStore, request: IncomingMessage, response: ServerResponse): void {
  const answer = async (): Promise<void> => {
    const body = await blobs.open(new URL(request.url ?? '/', 'http://store').pathname.slice(1))
    if (body === undefined) return void response.writeHead(404).end()
    const range = parseRange(request.headers.range, body.sizeBytes)
    response.writeHead(range.kind === 'part' ? 206 : 200, { etag: '"of-the-store"' })
    for await (const chunk of body.chunks(range.kind === 'part' ? range.range : undefined))
      response.write(Buffer.from(chunk))
    response.end()
  }
  answer().catch((error: Error) => response.destroy(error))
}

describe('a service that redirects to its storage', () => {
  let store: LocatingStore
  let storeServer: Server
  let service: Service
  let urlSeconds = URL_SECONDS
  beforeAll(async () => {
    storeServer = createServer((request, response) => answerBlob(store, request, response)).listen(0, '127.0.0.1')
    await new Promise((resolve) => storeServer.once('listening', resolve))
    const { port } = storeServer.address() as AddressInfo
    store = locatingStore((sha256) => ({
      kind: 'url',
      url: `http://127.0.0.1:${port}/${sha256}?signature=x`,
      expiresAt: Date.now() + urlSeconds * 1000,
    }))
    service = await startService(store, { ...REDIRECTING, LADE_INLINE_KB: '300' })
    await service.stage(INLINE)
    await service.stage(BIG, { 'x-filename': 'big.bin' })
    await service.stage(SMALL)
  })
  beforeEach(() => {
    urlSeconds = URL_SECONDS
    store.asked.length = 0
  })
  afterAll(async () => {
    await service.remove()
    await new Promise((resolve) => storeServer.close(resolve))
  })

  const pathOf = (bytes: Uint8Array): string => `/p/${sha256Hex(bytes)}`

  it('answers where a big public file is, and nothing that would have a cache take that for the file', async () => {
    const { status, headers, bytes } = await service.get(pathOf(BIG))
    expect([status, bytes.length]).toEqual([307, 0])
    expect(headers.get('location')).toContain(`/${sha256Hex(BIG)}?signature=x`)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-length': '0',
      'access-control-allow-origin': '*',
      'referrer-policy': 'no-referrer',
      'x-request-id': expect.any(String),
    })
    for (const name of ['etag', 'repr-digest', 'accept-ranges', 'content-type']) expect(headers.has(name)).toBe(false)
  })

  it('has the storage say type, name and caching', async () => {
    await service.get(pathOf(BIG))
    await service.get(`${pathOf(BIG)}?download=true&filename=other.bin`)
    const first = {
      sha256: sha256Hex(BIG),
      contentType: 'application/octet-stream',
      contentDisposition: 'attachment; filename=big.bin',
      cacheControl: 'public, max-age=3600',
    }
    expect(store.asked).toEqual([first, { ...first, contentDisposition: 'attachment; filename=other.bin' }])
  })

  it.each([
    [101, 'public, max-age=50'],
    [9, 'public, max-age=4'],
    [1, 'no-store'],
    [-5, 'no-store'],
  ])('lets a URL that is good for %i seconds be cached as %s, half of that', async (seconds, expected) => {
    urlSeconds = seconds
    expect((await service.get(pathOf(BIG))).headers.get('cache-control')).toBe(expected)
  })

  it('leaves nothing of a token in the query to a cache, or to the storage', async () => {
    const { status, headers } = await service.get(`${pathOf(BIG)}?token=${service.token}`)
    expect([status, headers.get('cache-control')]).toEqual([307, 'no-store'])
    expect(headers.get('location')).not.toContain(service.token)
  })

  it('leads whoever follows to the bytes, and to a range of them', async () => {
    const whole = await fetch(`${service.url}${pathOf(BIG)}`)
    expect([whole.redirected, Buffer.from(await whole.arrayBuffer()).equals(BIG)]).toEqual([true, true])
    const part = await fetch(`${service.url}${pathOf(BIG)}`, { headers: { range: 'bytes=1000-1999' } })
    expect([part.status, Buffer.from(await part.arrayBuffer()).equals(BIG.subarray(1000, 2000))]).toEqual([206, true])
  })

  it('has the storage go on with what it began, by its own tag', async () => {
    const range = { range: 'bytes=10-19' }
    expect((await service.get(pathOf(BIG), { ...range, 'if-range': '"of-the-store"' })).status).toBe(307)
    const own = await service.get(pathOf(BIG), { ...range, 'if-range': `"${sha256Hex(BIG)}"` })
    expect([own.status, own.bytes.equals(BIG.subarray(10, 20))]).toEqual([206, true])
  })

  it('answers HEAD, 304 and 416 by itself', async () => {
    const head = await service.get(pathOf(BIG), {}, 'HEAD')
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(BIG.length)])
    const etag = head.headers.get('etag') ?? ''
    expect((await service.get(pathOf(BIG), { 'if-none-match': etag })).status).toBe(304)
    const outside = await service.get(pathOf(BIG), { range: `bytes=${BIG.length}-` })
    expect([outside.status, outside.headers.get('cache-control')]).toEqual([416, 'no-store'])
    expect(store.asked).toEqual([])
  })

  it.each<[string, Record<string, string>]>([
    ['several ranges', { range: 'bytes=0-1,5-6' }],
    ['a range that ends before it begins', { range: 'bytes=5-2' }],
    ['If-Match', { 'if-match': '*' }],
    ['If-Modified-Since', { 'if-modified-since': new Date(0).toUTCString() }],
    ['If-Unmodified-Since', { 'if-unmodified-since': new Date(Date.now() + 86_400_000).toUTCString() }],
  ])('reads the file itself for a request with %s, which the storage would take otherwise', async (_title, headers) => {
    const { status, bytes } = await service.get(pathOf(BIG), headers)
    expect([status, bytes.equals(BIG)]).toEqual([200, true])
  })

  it('sends nobody away who shows a token, since some clients would show it to the storage, too', async () => {
    const { status, bytes } = await service.get(pathOf(BIG), bearer(service.token))
    expect([status, bytes.equals(BIG)]).toEqual([200, true])
  })

  it('keeps private files here, for their owner and for whoever has a share link', async () => {
    const secret = patternBytes(500_000, 21)
    await service.stage(secret, { 'x-visibility': 'private', ...bearer(service.token) })
    expect((await service.get(pathOf(secret))).status).toBe(404)
    expect((await service.get(`${pathOf(secret)}?token=${service.token}`)).bytes.equals(secret)).toBe(true)
    const shared = await fetch(`${service.url}/api/files/${sha256Hex(secret)}/share`, {
      method: 'POST',
      body: JSON.stringify({ ttlSeconds: 60 }),
      headers: { 'content-type': 'application/json', ...bearer(service.token) },
    })
    const { url } = (await shared.json()) as { readonly url: string }
    const { pathname, search } = new URL(url)
    expect((await service.get(`${pathname}${search}`)).bytes.equals(secret)).toBe(true)
    expect(store.asked).toEqual([])
  })

  it('keeps what is small, in the records, or inside of a CAR', async () => {
    for (const bytes of [SMALL, INLINE]) {
      const { status, bytes: given } = await service.get(pathOf(bytes))
      expect([status, given.equals(bytes)]).toEqual([200, true])
    }
    const file = await fileDag(patternBytes(600_000, 31), { profile: 'unixfs-v0-2015' })
    const car = await carOf(file.root, file.blocks)
    await service.stage(car, { 'content-type': 'application/vnd.ipld.car' }, file.root.toString())
    const view = await service.get(`/p/${file.root}`)
    expect([view.status, view.bytes.equals(patternBytes(600_000, 31))]).toEqual([200, true])
    expect((await service.get(pathOf(car))).status).toBe(307)
  })

  it.each(['*/*', 'unknown/unknown; x=y', 'Application/Unknown'])(
    'has what browsers would look into saved by the storage: %s',
    async (type) => {
      const bytes = patternBytes(400_000, 1000 + type.length)
      await service.stage(bytes, { 'content-type': type })
      expect((await service.get(pathOf(bytes))).status).toBe(307)
      expect(store.asked.at(-1)?.contentDisposition).toBe(`attachment; filename=${sha256Hex(bytes)}`)
    },
  )

  it('has pages saved and not shown by the storage', async () => {
    const page = patternBytes(400_000, 41)
    await service.stage(page, { 'content-type': 'text/html' })
    expect((await service.get(pathOf(page))).status).toBe(307)
    expect(store.asked.map(({ contentDisposition }) => contentDisposition)).toEqual([
      `attachment; filename=${sha256Hex(page)}`,
    ])
  })

  it('redirects nobody from /piece/, where provers take that for a refusal, nor from /ipfs/', async () => {
    const bytes = patternBytes(3_000_000, 51)
    const { pieceCid } = await service.stage(bytes)
    const piece = await service.get(`/piece/${pieceCid}`)
    expect([piece.status, piece.bytes.equals(bytes)]).toEqual([200, true])
    expect((await service.get(`/p/${pieceCid}`)).status).toBe(307)
    const { cidV1 } = aliasesOf(sha256Hex(bytes))
    const block = await service.get(`/ipfs/${cidV1}?format=raw`)
    expect([block.status, block.bytes.equals(bytes)]).toEqual([200, true])
  })

  it('error: what was removed is gone, and what the store has lost is storage_failed, without a URL', async () => {
    const removed = patternBytes(400_000, 61)
    await service.stage(removed, bearer(service.token))
    await fetch(`${service.url}/api/files/${sha256Hex(removed)}`, { method: 'DELETE', headers: bearer(service.token) })
    expect((await service.get(pathOf(removed))).status).toBe(410)
    const lost = patternBytes(400_000, 62)
    await service.stage(lost)
    await store.delete((await store.stat(sha256Hex(lost))) ?? { sha256: '', put: '' })
    const { status, headers } = await service.get(pathOf(lost))
    expect([status, headers.get('cache-control'), headers.get('location')]).toEqual([503, 'no-store', null])
  })
})

describe('a service whose retrieval has an origin of its own', () => {
  it('shows its pages there itself, where they are told what they may do', async () => {
    const store = locatingStore((sha256) => ({ kind: 'url', url: `https://store.example/${sha256}`, expiresAt: 9e15 }))
    const service = await startService(store, { ...REDIRECTING, LADE_CONTENT_URL: 'http://localhost:1' })
    try {
      await service.stage(BIG, { 'content-type': 'text/html' })
      const path = `/p/${sha256Hex(BIG)}`
      expect((await service.get(path)).status).toBe(307)
      const shown = await statusAt(service.url, path, 'localhost:1')
      expect(shown).toEqual([200, 'inline'])
    } finally {
      await service.remove()
    }
  })
})

/** What a request to another host of this service is answered with: the status, and how the file is to be shown. */
function statusAt(url: string, path: string, host: string): Promise<readonly [number | undefined, string | undefined]> {
  return new Promise((resolve, reject) => {
    const request = httpGet(`${url}${path}`, { headers: { host } }, (response) => {
      response.resume()
      response.on('end', () => resolve([response.statusCode, response.headers['content-disposition']]))
    })
    request.on('error', reject)
  })
}
