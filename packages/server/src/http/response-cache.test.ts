import { ServerResponse } from 'node:http'
import { describe, expect, it, vi } from 'vitest'
import { ResponseCache, type ResponseCacheOptions } from './response-cache.ts'
import { requestOf } from './testing-request.ts'

const NEVER = Number.MAX_SAFE_INTEGER
const headers = { 'content-type': 'text/plain', etag: '"x"' }

function responseCacheOf(options: Partial<ResponseCacheOptions> = {}): ResponseCache {
  return new ResponseCache({ generation: () => 1, now: () => 0, nextRequestId: () => 'r-1', ...options })
}

function keep(files: ResponseCache, url: string, bytes = Buffer.from('abc'), expiresAt = NEVER, generation = 1): void {
  files.keep(url, { headers, bytes, expiresAt, maxSeconds: 3600, generation })
}

/** The answer, or undefined where the request was left to the routes. */
function ask(files: ResponseCache, url: string, head: { method?: string; lines?: readonly string[] } = {}) {
  const request = requestOf({ url, lines: ['Host', 'h.example'], ...head })
  const response = new ServerResponse(request)
  if (files.answer(request, response)) return response
  expect(response.headersSent).toBe(false)
  return undefined
}

describe('ResponseCache', () => {
  it('answers what it was given, with a request id', () => {
    const files = responseCacheOf()
    keep(files, '/p/x')
    const response = ask(files, '/p/x')
    expect(response?.statusCode).toBe(200)
    expect(response?.writableEnded).toBe(true)
  })

  it('says at each answer for how long the file may be kept', () => {
    let now = 0
    const files = responseCacheOf({ now: () => now })
    keep(files, '/p/x', undefined, 7_200_000)
    const cachingAt = (seconds: number) => {
      now = seconds * 1000
      const request = requestOf({ url: '/p/x', lines: ['Host', 'h.example'] })
      const response = new ServerResponse(request)
      const written = vi.spyOn(response, 'writeHead')
      expect(files.answer(request, response)).toBe(true)
      const headers = written.mock.calls[0]?.[1] as unknown as readonly string[]
      return headers[headers.indexOf('cache-control') + 1]
    }
    expect([cachingAt(0), cachingAt(3601), cachingAt(7199)]).toEqual([
      'public, max-age=3600',
      'public, max-age=3599',
      'public, max-age=1',
    ])
  })

  it.each(['/p/y', '/p/x?', '/p/x?a=1', '/P/x', '/p/X', '/p/x/'])('leaves %s, another target, to the routes', (url) => {
    const files = responseCacheOf()
    keep(files, '/p/x')
    expect(ask(files, url)).toBeUndefined()
  })

  it.each(['HEAD', 'POST', 'DELETE', 'OPTIONS'])('leaves %s to the routes', (method) => {
    const files = responseCacheOf()
    keep(files, '/p/x')
    expect(ask(files, '/p/x', { method })).toBeUndefined()
  })

  it.each([
    ['Range', 'bytes=0-1'],
    ['If-None-Match', '"x"'],
    ['If-Match', '"y"'],
    ['If-Modified-Since', 'Sat, 21 Nov 2026 12:00:00 GMT'],
    ['If-Unmodified-Since', 'Sat, 21 Nov 2026 12:00:00 GMT'],
    ['If-Range', '"x"'],
    ['Authorization', 'Bearer x'],
    ['Service-Worker', 'script'],
    ['Expect', '100-continue'],
    ['Transfer-Encoding', 'chunked'],
    ['Content-Length', '5'],
    ['Content-Length', '0'],
  ])('leaves a request with %s: %s to the routes, and keeps the answer for others', (name, value) => {
    const files = responseCacheOf()
    keep(files, '/p/x')
    expect(ask(files, '/p/x', { lines: ['Host', 'h.example', name, value] })).toBeUndefined()
    expect(ask(files, '/p/x')).toBeDefined()
  })

  it('leaves a request whose frame is not sound to the routes, which refuse it', () => {
    const files = responseCacheOf()
    keep(files, '/p/x')
    expect(ask(files, '/p/x', { lines: ['Host', 'a.example', 'Host', 'b.example'] })).toBeUndefined()
  })

  it('answers nothing once the records have changed, also not when they change back', () => {
    let generation = 1
    const files = responseCacheOf({ generation: () => generation })
    keep(files, '/p/x')
    generation = 2
    expect(ask(files, '/p/x')).toBeUndefined()
    generation = 1
    expect(ask(files, '/p/x')).toBeUndefined()
  })

  it('answers nothing that was read before the records changed and kept after', () => {
    let generation = 1
    const files = responseCacheOf({ generation: () => generation })
    const before = files.generation()
    generation = 2
    keep(files, '/p/x', Buffer.from('abc'), NEVER, before)
    expect(ask(files, '/p/x')).toBeUndefined()
  })

  it('answers until the instant of expiry, and not from then on', () => {
    let now = 99
    const files = responseCacheOf({ now: () => now })
    keep(files, '/p/x', Buffer.from('abc'), 100)
    expect(ask(files, '/p/x')).toBeDefined()
    now = 100
    expect(ask(files, '/p/x')).toBeUndefined()
  })

  it('drops the least recently used answer when memory runs out', () => {
    const files = responseCacheOf({ maxBytes: 64 * 1024 })
    const bytes = Buffer.alloc(2048)
    const urls = Array.from({ length: 40 }, (_, index) => `/p/${index}`)
    for (const url of urls) {
      keep(files, url, bytes)
      expect(ask(files, '/p/0')).toBeDefined()
    }
    const kept = urls.filter((url) => ask(files, url) !== undefined)
    expect(kept).toContain('/p/0')
    expect(kept).toContain('/p/39')
    expect(kept).not.toContain('/p/1')
    expect(kept.length).toBeLessThanOrEqual(32)
  })

  it('keeps no answer that would fill a sixteenth of the memory by itself', () => {
    const files = responseCacheOf({ maxBytes: 16 * 1024 })
    keep(files, '/p/x', Buffer.alloc(1025))
    expect(ask(files, '/p/x')).toBeUndefined()
  })

  it('counts an answer once when it is kept again', () => {
    const files = responseCacheOf({ maxBytes: 64 * 1024 })
    keep(files, '/p/other', Buffer.alloc(2048))
    for (let round = 0; round < 100; round += 1) keep(files, '/p/x', Buffer.alloc(2048))
    expect(ask(files, '/p/other')).toBeDefined()
  })

  it('bounds memory for tiny files too, whose addresses and headers weigh more than their bytes', () => {
    const files = responseCacheOf({ maxBytes: 64 * 1024 })
    const urls = Array.from({ length: 2000 }, (_, index) => `/p/${String(index).padStart(64, '0')}`)
    for (const url of urls) keep(files, url, Buffer.from('a'))
    const kept = urls.filter((url) => ask(files, url) !== undefined)
    expect(kept.length).toBeGreaterThan(0)
    expect(kept.length * 64).toBeLessThan(64 * 1024)
  })
})
