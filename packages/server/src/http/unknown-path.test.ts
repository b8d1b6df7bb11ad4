import { describe, expect, it } from 'vitest'
import type { KnownPath } from './known-paths.ts'
import { unknownPath } from './unknown-path.ts'

const path = (url: string, ...methods: string[]): KnownPath => ({ url, pattern: /^$/, isCatchAll: false, methods })
const PATHS = [
  path('/api/upload', 'POST'),
  path('/api/files', 'GET'),
  path('/api/files/:cid', 'GET'),
  path('/api/files/:cid', 'DELETE'),
  path('/api/tokens/revoke', 'POST'),
  path('/api/auth/signup', 'POST'),
  path('/p/:cid', 'GET', 'HEAD'),
  path('/p/*', 'GET', 'HEAD'),
  path('/healthz', 'GET'),
]

describe('unknownPath', () => {
  it.each([
    ['POST', '/upload', 'POST /api/upload'],
    ['POST', '/api/upload/', 'POST /api/upload'],
    ['POST', '/API/Upload', 'POST /api/upload'],
    ['POST', '/api/v1/upload', 'POST /api/upload'],
    ['POST', '/api/uplaod', 'POST /api/upload'],
    ['POST', '/api/upload/bafkrei', 'POST /api/upload'],
    ['POST', '/signup', 'POST /api/auth/signup'],
    ['POST', '/api/signup', 'POST /api/auth/signup'],
    ['GET', '/upload', 'POST /api/upload'],
    ['GET', '/api/file', 'GET /api/files'],
    ['GET', '/files/bafkrei', 'GET /api/files/{cid}'],
    ['DELETE', '/files/bafkrei', 'DELETE /api/files/{cid}'],
    ['GET', '/p', 'GET /p/{cid}'],
    ['GET', '/health', 'GET /healthz'],
    ['POST', '//api//tokens/revoke', 'POST /api/tokens/revoke'],
  ])('answers %s %s with %s', (method, asked, meant) => {
    expect(unknownPath(method, asked, PATHS)).toBe(`No such endpoint: ${method} ${asked}. Did you mean ${meant}?`)
  })

  it.each(['/', '/favicon.png', '/wp-login.php', '/a/b/c/d/e', `/${'x'.repeat(5000)}`])(
    'guesses nothing for %s',
    (asked) => {
      const sentence = unknownPath('GET', asked, PATHS)
      expect(sentence).toMatch(/ All endpoints are listed at \/docs\.$/)
      expect(sentence.length).toBeLessThan(160)
    },
  )

  it('shows nothing of a path that could be more than text', () => {
    expect(unknownPath('GET', '/a\u001b[2J\u202e', PATHS)).toMatch(/^[\x20-\x7e…]+$/)
  })
})
