import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningService, runService } from '../../../testing/running/running-service.ts'
import { acceptsGzip } from './fixed-document.ts'

describe('documents that stay the same', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await runService()
  })
  afterAll(() => service.remove())

  const get = (path: string, headers: Record<string, string>) => service.fetch(path, { headers })
  const PATHS = [
    '/openapi.json',
    '/docs/',
    '/docs/js/scalar.js',
    '/docs/errors',
    '/docs/guides',
    '/docs/guides/use/command-line',
  ]

  it.each(PATHS)('%s is sent compressed, and takes less than half of its size', async (path) => {
    const plain = await get(path, { 'accept-encoding': 'identity' })
    expect([plain.status, plain.headers.get('content-encoding'), plain.headers.get('vary')]).toEqual([
      200,
      null,
      'Accept-Encoding',
    ])
    const compressed = await get(path, { 'accept-encoding': 'br;q=0.1, gzip' })
    expect(compressed.headers.get('content-encoding')).toBe('gzip')
    const [text, uncompressed] = [await plain.text(), await compressed.text()]
    expect(uncompressed).toBe(text)
    expect(Number(compressed.headers.get('content-length'))).toBeLessThan(
      text.length < 1000 ? text.length : text.length / 2,
    )
  })

  it.each(PATHS)('%s is not sent again to those who have it', async (path) => {
    for (const encoding of ['gzip', 'identity']) {
      const first = await get(path, { 'accept-encoding': encoding })
      await first.arrayBuffer()
      const etag = first.headers.get('etag') ?? ''
      expect(etag).toMatch(/^"[\w-]{22,}"$/)
      const again = await get(path, { 'accept-encoding': encoding, 'if-none-match': etag })
      expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
      const changed = await get(path, { 'accept-encoding': encoding, 'if-none-match': '"something-else"' })
      expect(changed.status).toBe(200)
      await changed.arrayBuffer()
    }
  })

  it('says how long it may be kept', async () => {
    const cachingOf = async (path: string) => (await get(path, {})).headers.get('cache-control')
    expect(await cachingOf('/docs/js/scalar.js')).toBe('public, max-age=86400')
    expect(await cachingOf('/docs/')).toBe('no-cache')
    expect(await cachingOf('/openapi.json')).toBe('no-cache')
  })

  it('sends bytes that are gzip', async () => {
    const { hostname, port } = new URL(service.url)
    const { request } = await import('node:http')
    const body = await new Promise<Buffer>((resolve, reject) => {
      request({ hostname, port, path: '/openapi.json', headers: { 'accept-encoding': 'gzip' } }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => resolve(Buffer.concat(chunks)))
      })
        .on('error', reject)
        .end()
    })
    expect(JSON.parse(gunzipSync(body).toString())).toMatchObject({ openapi: '3.1.0' })
  })
})

describe('acceptsGzip', () => {
  it.each(['gzip', 'GZIP', 'deflate, gzip;q=0.5', '*', 'br, *;q=0.1'])('is true for %j', (header) =>
    expect(acceptsGzip(header)).toBe(true),
  )
  it.each([undefined, '', 'br', 'gzip;q=0', 'gzip; q=0.000', 'identity', 'x-gzip-like'])('is false for %j', (header) =>
    expect(acceptsGzip(header)).toBe(false),
  )
})
