import { LadeError } from '@lade/core/errors'
import { parseFileName, parseMediaType } from '@lade/core/wire'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FileRecord } from '../records/record-store.ts'
import type { ServedFile } from '../retrieval/served-file.ts'
import { fileRecordOf } from '../testing/running/staging-fixture.ts'
import { cachingOf, entityTagOf, fileHeaders } from './file-headers.ts'

const SHA256 = 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9'

/** A file that is given back as it was staged, where `view` does not say otherwise. */
function servedOf(overrides: Partial<FileRecord> = {}, view: Partial<ServedFile> = {}): ServedFile {
  const file = fileRecordOf({ sha256: SHA256, cid: SHA256, ...overrides })
  const { contentType, filename } = file
  return { file, contentType, filename, sha256: file.sha256 ?? undefined, isSettled: true, ...view }
}

const NOW = Date.UTC(2026, 10, 21)
const DAY_MS = 86_400_000
/** A term that ends after this many seconds. */
const endsIn = (seconds: number) => ({ expiresAt: NOW + seconds * 1000 })
const caching = { maxSeconds: 3600, now: NOW }
const shown = { cid: SHA256, isOwnOrigin: false, caching }
const dispositionOf = (file: Partial<FileRecord>, options: Partial<Parameters<typeof fileHeaders>[1]> = {}) =>
  fileHeaders(servedOf(file), { ...shown, ...options })['content-disposition']

describe('fileHeaders', () => {
  it('guards the origin, names the bytes and lets them be cached for a while', () => {
    expect(fileHeaders(servedOf({ expiresAt: NOW + DAY_MS }), shown)).toMatchObject({
      'content-type': 'text/plain',
      'content-disposition': 'inline',
      'x-content-type-options': 'nosniff',
      'content-security-policy':
        "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'",
      'referrer-policy': 'no-referrer',
      'access-control-allow-origin': '*',
      etag: `"${SHA256}"`,
      'last-modified': expect.stringMatching(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/),
      'accept-ranges': 'bytes',
      'repr-digest': 'sha-256=:uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek=:',
      'cache-control': 'public, max-age=3600',
    })
  })

  it('names no digest for a part of the object', () => {
    expect(fileHeaders(servedOf({}, { sha256: undefined }), shown)).not.toHaveProperty('repr-digest')
  })

  it('keeps bytes that may give way to others apart from them, and lets nobody cache them for long', () => {
    expect(fileHeaders(servedOf({ expiresAt: NOW + DAY_MS }, { isSettled: false }), shown)).toMatchObject({
      etag: `"${SHA256}.b94d27b9934d3e08"`,
      'cache-control': 'public, max-age=300',
    })
  })

  it('lets no shared cache keep a private file', () => {
    expect(cachingOf(servedOf({ visibility: 'private' }), caching)).toEqual({
      'cache-control': 'private, no-cache',
      vary: 'Authorization',
    })
  })

  it.each([
    [36_000, 3600, 'public, max-age=3600'],
    [600, 3600, 'public, max-age=600'],
    [600.9, 3600, 'public, max-age=600'],
    [-5, 3600, 'public, max-age=0'],
    [36_000, 0, 'public, max-age=0'],
    [36_000, 29_030_400, 'public, max-age=36000, immutable'],
    [40_000_000, 29_030_400, 'public, max-age=29030400, immutable'],
    [40_000_000, 29_030_399, 'public, max-age=29030399'],
  ])('lets a file with %d seconds left, at most %d of them in caches, be kept as %s', (left, maxSeconds, expected) => {
    expect(cachingOf(servedOf(endsIn(left)), { maxSeconds, now: NOW })).toEqual({ 'cache-control': expected })
  })

  it('lets no shared cache keep what one caller sees of its own public file', () => {
    expect(cachingOf(servedOf(endsIn(600)), { ...caching, isOwn: true })).toEqual({
      'cache-control': 'private, max-age=600',
      vary: 'Authorization',
    })
  })

  it.each([
    'text/html',
    'TEXT/HTML; charset=utf-8',
    'image/svg+xml',
    'application/xhtml+xml',
    'text/xml',
    'application/xml',
    'application/pdf',
    'application/rss+xml',
  ])('has %s saved, unless retrieval has an origin of its own', (contentType) => {
    expect(dispositionOf({ contentType })).toBe(`attachment; filename=${SHA256}`)
    expect(dispositionOf({ contentType, filename: 'a.html' })).toBe('attachment; filename=a.html')
    expect(dispositionOf({ contentType, filename: 'a.html' }, { isOwnOrigin: true })).toBe('inline; filename=a.html')
    expect(dispositionOf({ contentType }, { isOwnOrigin: true })).toBe('inline')
    expect(dispositionOf({ contentType }, { isOwnOrigin: true, isDownload: true })).toMatch(/^attachment;/)
  })

  it.each([
    ['text/html', true, /^sandbox allow-scripts /],
    ['image/svg+xml', true, /^sandbox allow-scripts /],
    // The PDF viewers of some browsers do not start in a sandbox.
    ['application/pdf', true, /^default-src 'none'; object-src 'self'/],
    ['image/png', true, /^sandbox; default-src 'none'; img-src 'self'; media-src 'self'/],
    ['text/html', false, /^sandbox; default-src 'none'; /],
    ['application/pdf', false, /^sandbox; default-src 'none'; /],
  ])('guards %s, with an origin of its own: %s', (contentType, isOwnOrigin, policy) => {
    const headers = fileHeaders(servedOf({ contentType }), { ...shown, isOwnOrigin })
    expect(headers['content-security-policy']).toMatch(policy)
    expect(headers['content-security-policy']).not.toContain('allow-same-origin')
    const saved = fileHeaders(servedOf({ contentType }), { ...shown, isOwnOrigin, isDownload: true })
    expect(saved['content-security-policy']).toMatch(/^sandbox; default-src 'none'; /)
  })

  it.each(['application/octet-stream', 'application/javascript', 'multipart/x-mixed-replace', 'text/css', 'x/y'])(
    'has %s saved everywhere',
    (contentType) => {
      for (const isOwnOrigin of [false, true])
        expect(dispositionOf({ contentType }, { isOwnOrigin })).toBe(`attachment; filename=${SHA256}`)
    },
  )

  it.each(['text/plain', 'image/png', 'application/json', 'video/mp4'])('lets %s be shown', (contentType) => {
    expect(dispositionOf({ contentType })).toBe('inline')
    expect(dispositionOf({ contentType }, { isDownload: true })).toBe(`attachment; filename=${SHA256}`)
  })

  it.each([
    ['plan.pdf', 'inline; filename=plan.pdf'],
    ['my plan.txt', 'inline; filename="my plan.txt"'],
    ['a "b".txt', 'inline; filename="a \\"b\\".txt"'],
    ['a;b.txt', 'inline; filename="a;b.txt"'],
    ['日本.txt', /^inline; filename="\?\?\.txt"; filename\*=(UTF|utf)-8''%E6%97%A5%E6%9C%AC\.txt$/],
    ['50%20.txt', /filename\*=(UTF|utf)-8''50%2520\.txt/],
  ])('gives the name %s back as %s', (filename, expected) => {
    const disposition = dispositionOf({ filename })
    if (typeof expected === 'string') expect(disposition).toBe(expected)
    else expect(disposition).toMatch(expected)
  })

  it('gives the name of the query in place of the one that was staged', () => {
    expect(dispositionOf({ filename: 'a.txt' }, { filename: 'b.txt' })).toBe('inline; filename=b.txt')
  })

  it.each(['', ' ', '.', '..', 'a/b', 'a\\b', 'a\r\nSet-Cookie: x', 'a\0', 'a\u202eb', 'x'.repeat(256), '\u2028'])(
    'refuses the name %j of a query',
    (filename) =>
      expect(() => dispositionOf({}, { filename })).toThrow(expect.objectContaining({ code: 'invalid_filename' })),
  )

  it('lets no name and no type that upload accepts break out of its header', () => {
    const wild = fc
      .oneof(fc.string({ unit: 'binary' }), fc.string(), fc.stringMatching(/^[\s\S]{0,40}$/))
      .map(wellFormed)
    const type = fc.oneof(
      wild,
      fc.tuple(wild, wild).map(([name, value]) => `text/plain; ${name}="${value}"`),
    )
    fc.assert(
      fc.property(wild, type, wild, (staged, contentType, asked) => {
        const file = servedOf({
          filename: accepted(() => parseFileName(encodeURIComponent(staged))) ?? null,
          contentType: accepted(() => parseMediaType(contentType)) ?? 'text/html',
        })
        const headers = accepted(() => fileHeaders(file, { ...shown, filename: asked })) ?? fileHeaders(file, shown)
        for (const value of Object.values(headers)) expect(value).toMatch(/^[\t\x20-\x7e\x80-\xff]*$/)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('entityTagOf', () => {
  it('is the cid in quotes', () => expect(entityTagOf('bafkreiabc', servedOf())).toBe('"bafkreiabc"'))
})

/** The value, or undefined where it is refused in the words of this API. */
function accepted<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch (error) {
    if (LadeError.is(error)) return undefined
    throw error
  }
}

function wellFormed(text: string): string {
  return text.toWellFormed()
}
