import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patternBytes } from '../../../retrieval/testing-dags.ts'
import { bearer } from '../../../testing/running/running-service.ts'
import { locatingStore, type Service, startService } from './testing-offload.ts'

const BIG = patternBytes(400_000, 7)
const SMALL = patternBytes(200_000, 8)

describe('a service behind a proxy that sends files', () => {
  const ASKING = { 'x-sendfile-type': 'X-Accel-Redirect' }
  const store = locatingStore((sha256) => ({ kind: 'file', path: `${sha256.slice(0, 2)}/${sha256}` }))
  let service: Service
  beforeAll(async () => {
    const env = { LADE_ACCEL: '/lade-blobs/', LADE_TRUSTED_PROXIES: '127.0.0.1', LADE_INLINE_KB: '0' }
    service = await startService(store, env)
    await service.stage(BIG)
    await service.stage(SMALL)
  })
  afterAll(() => service.remove())
  const digest = sha256Hex(BIG)
  const path = `/p/${digest}`

  it('names the file to the proxy, with every header of the answer but those that are its own', async () => {
    const read = await service.get(path)
    const { status, headers, bytes } = await service.get(path, ASKING)
    expect([status, bytes.length, headers.get('content-length')]).toEqual([200, 0, '0'])
    expect(headers.get('x-accel-redirect')).toBe(`/lade-blobs/${digest.slice(0, 2)}/${digest}`)
    // What nginx would keep on an error, too, it is not told by that name.
    expect(headers.get('cache-control')).toBeNull()
    expect(headers.get('x-lade-cache-control')).toBe(read.headers.get('cache-control'))
    expect(headers.get('accept-ranges')).toBeNull()
    for (const [name, value] of read.headers) {
      if (['content-length', 'cache-control', 'accept-ranges', 'x-request-id', 'date'].includes(name)) continue
      expect([name, headers.get(name)]).toEqual([name, value])
    }
  })

  it('does so for a range, and for pieces', async () => {
    const part = await service.get(path, { ...ASKING, range: 'bytes=5-9' })
    expect([part.status, part.headers.has('content-range')]).toEqual([200, false])
    expect(part.headers.has('x-accel-redirect')).toBe(true)
    const { pieceCid } = await service.stage(patternBytes(400_000, 71))
    expect((await service.get(`/piece/${pieceCid}`, ASKING)).headers.has('x-accel-redirect')).toBe(true)
  })

  it('lets nobody cache a private file on the way, by the name that nginx keeps', async () => {
    const secret = patternBytes(500_000, 72)
    await service.stage(secret, { 'x-visibility': 'private', ...bearer(service.token) })
    const own = await service.get(`/p/${sha256Hex(secret)}`, { ...ASKING, ...bearer(service.token) })
    expect(own.headers.get('x-accel-redirect')).toContain(sha256Hex(secret))
    expect(own.headers.get('cache-control')).toBe('private, no-cache')
    expect(own.headers.has('x-lade-cache-control')).toBe(false)
    const strange = await service.get(`/p/${sha256Hex(secret)}`, ASKING)
    expect([strange.status, strange.headers.has('x-accel-redirect')]).toEqual([404, false])
    const byQuery = await service.get(`${path}?token=${service.token}`, ASKING)
    expect(byQuery.headers.get('cache-control')).toBe('no-store')
  })

  it.each<[string, Record<string, string>]>([
    ['a request that did not come through the proxy', {}],
    ['a proxy that sends files in another way', { 'x-sendfile-type': 'X-Sendfile' }],
    ['several ranges', { ...ASKING, range: 'bytes=0-1,5-6' }],
    ['If-Match', { ...ASKING, 'if-match': `"${digest}"` }],
  ])('reads the file itself for %s', async (_title, headers) => {
    const { status, bytes, headers: answered } = await service.get(path, headers)
    expect([status, bytes.equals(BIG), answered.has('x-accel-redirect')]).toEqual([200, true, false])
  })

  it('reads small files itself, and answers HEAD, 304 and 416', async () => {
    expect((await service.get(`/p/${sha256Hex(SMALL)}`, ASKING)).bytes.equals(SMALL)).toBe(true)
    const head = await service.get(path, ASKING, 'HEAD')
    expect([head.headers.get('content-length'), head.headers.has('x-accel-redirect')]).toEqual(['400000', false])
    expect((await service.get(path, { ...ASKING, 'if-none-match': `"${digest}"` })).status).toBe(304)
    expect((await service.get(path, { ...ASKING, range: 'bytes=400000-' })).status).toBe(416)
  })

  it('believes nobody but the proxies that it trusts', async () => {
    const store = locatingStore((sha256) => ({ kind: 'file', path: sha256 }))
    const other = await startService(store, { LADE_ACCEL: '/lade-blobs/', LADE_TRUSTED_PROXIES: '192.0.2.1' })
    try {
      await other.stage(BIG)
      const { status, bytes } = await other.get(path, ASKING)
      expect([status, bytes.equals(BIG)]).toEqual([200, true])
      expect(store.asked).toEqual([])
    } finally {
      await other.remove()
    }
  })
})
