import { describe, expect, test } from 'vitest'
import { headerOf, type UploadOptions } from './caller.ts'
import { rawCidOf, sha256 } from './content-ids.ts'
import { expectProblem } from './problem.ts'
import { sampleBytes, useTarget } from './target.ts'

const target = useTarget()

async function staged(options: UploadOptions = {}, sizeBytes = 1_000) {
  const caller = target.anonymous()
  const bytes = sampleBytes(sizeBytes)
  const { cid } = await caller.stage(bytes, options)
  return { caller, bytes, cid }
}

const HEADERS_OF_EVERY_ANSWER = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'",
  'referrer-policy': 'no-referrer',
  'access-control-allow-origin': '*',
}

describe('GET /p/{cid}', () => {
  test('answers the bytes with exactly the promised headers', async () => {
    const { caller, bytes, cid } = await staged({ contentType: 'application/x-acceptance' })
    const answer = await caller.retrieve(cid)
    expect(answer.status).toBe(200)
    expect(answer.body.equals(bytes)).toBe(true)
    expect(answer.headers).toMatchObject({
      ...HEADERS_OF_EVERY_ANSWER,
      'content-type': 'application/x-acceptance',
      'content-length': '1000',
      etag: `"${cid}"`,
      'cache-control': 'public, max-age=3600',
      'accept-ranges': 'bytes',
      'repr-digest': `sha-256=:${sha256(bytes).toString('base64')}:`,
    })
    expect(answer.headers).not.toHaveProperty('set-cookie')
    expect(answer.headers).not.toHaveProperty('access-control-allow-credentials')
  })

  test('exposes to browsers the headers that they would otherwise hide', async () => {
    const { caller, cid } = await staged()
    const exposed = headerOf(
      await caller.retrieve(cid, { headers: { Origin: 'https://example.com' } }),
      'access-control-expose-headers',
    )
      .toLowerCase()
      .split(/\s*,\s*/)
    expect(exposed).toEqual(
      expect.arrayContaining([
        'etag',
        'content-length',
        'content-range',
        'content-disposition',
        'accept-ranges',
        'repr-digest',
      ]),
    )
  })

  test('HEAD answers the same headers and no body', async () => {
    const { caller, cid } = await staged({ filename: 'x y.txt' })
    const [get, headAnswer] = [await caller.retrieve(cid), await caller.retrieve(cid, { method: 'HEAD' })]
    expect(headAnswer.status).toBe(200)
    expect(headAnswer.body).toHaveLength(0)
    const comparable = (headers: object) =>
      Object.fromEntries(
        Object.entries(headers).filter(([name]) => !/^(date|x-request-id|connection|keep-alive)$/.test(name)),
      )
    expect(comparable(headAnswer.headers)).toEqual(comparable(get.headers))
  })

  test.for(['GET', 'HEAD'])(
    '%s of an unknown cid is 404, of a malformed one 400, neither cacheable',
    async (method) => {
      const caller = target.anonymous()
      const unknown = await caller.retrieve(rawCidOf(sampleBytes()).base32, { method })
      const malformed = await caller.retrieve('short', { method })
      expect([unknown.status, malformed.status]).toEqual([404, 400])
      for (const answer of [unknown, malformed]) expect(headerOf(answer, 'cache-control')).toBe('no-store')
      if (method === 'HEAD') return
      expectProblem(unknown, 404, 'not_found')
      expectProblem(malformed, 400, 'invalid_cid')
    },
  )

  test('errors carry the same protective headers', async () => {
    const answer = await target.anonymous().retrieve(rawCidOf(sampleBytes()).base32)
    expect(answer.headers).toMatchObject(HEADERS_OF_EVERY_ANSWER)
  })

  test('unkeyed headers change nothing in the answer', async () => {
    const { caller, cid } = await staged()
    const plain = await caller.retrieve(cid)
    for (const name of [
      'X-Forwarded-Host',
      'X-Forwarded-Proto',
      'X-Forwarded-Prefix',
      'X-Original-URL',
      'X-Rewrite-URL',
      'X-HTTP-Method-Override',
      'Forwarded',
      'Accept',
      'Accept-Encoding',
    ]) {
      const answer = await caller.retrieve(cid, { headers: { [name]: 'evil.example' } })
      expect(answer.status, name).toBe(200)
      expect(answer.body.equals(plain.body), name).toBe(true)
      for (const header of ['content-type', 'etag', 'cache-control', 'content-disposition', 'location']) {
        expect(answer.headers[header], `${name}: ${header}`).toBe(plain.headers[header])
      }
    }
  })

  test('the earliest live file decides type and name: a later caller cannot change what others see', async (context) => {
    const [one, two] = [await target.freshUser(context), await target.freshUser(context)]
    const bytes = sampleBytes()
    const { cid } = await one.stage(bytes, { contentType: 'text/x-first', filename: 'first.txt' })
    await two.stage(bytes, { contentType: 'text/x-second', filename: 'second.txt' })
    const both = await target.anonymous().retrieve(cid)
    expect(headerOf(both, 'content-type')).toBe('text/x-first')
    expect(headerOf(both, 'content-disposition')).toContain('first.txt')
    await one.request('DELETE', `/api/files/${cid}`)
    const left = await target.anonymous().retrieve(cid)
    expect(headerOf(left, 'content-type')).toBe('text/x-second')
    expect(headerOf(left, 'content-disposition')).toContain('second.txt')
  })

  test('a service worker script is refused', async () => {
    const { caller, cid } = await staged({ contentType: 'text/javascript' })
    expect((await caller.retrieve(cid, { headers: { 'Service-Worker': 'script' } })).status).toBe(400)
  })
})

describe('If-None-Match', () => {
  test.for([
    ['the tag', (tag: string) => tag],
    ['the weak tag', (tag: string) => `W/${tag}`],
    ['a list that holds it', (tag: string) => `"other", ${tag}`],
    ['a list that holds it weakly, without spaces', (tag: string) => `"other",W/${tag},"more"`],
    ['any', () => '*'],
  ] as const)('%s answers 304 with the tag and no body', async ([, spell]) => {
    const { caller, cid } = await staged()
    for (const method of ['GET', 'HEAD']) {
      const answer = await caller.retrieve(cid, { method, headers: { 'If-None-Match': spell(`"${cid}"`) } })
      expect(answer.status).toBe(304)
      expect(answer.body).toHaveLength(0)
      expect(answer.headers).toMatchObject({
        etag: `"${cid}"`,
        'cache-control': 'public, max-age=3600',
        'access-control-allow-origin': '*',
      })
    }
  })

  test.for([
    ['another tag', () => '"other"'],
    ['the tag without quotes', (tag: string) => tag.slice(1, -1)],
    ['the tag inside another', (tag: string) => `"x${tag.slice(1)}`],
  ] as const)('%s answers 200', async ([, spell]) => {
    const { caller, cid } = await staged()
    expect((await caller.retrieve(cid, { headers: { 'If-None-Match': spell(`"${cid}"`) } })).status).toBe(200)
  })

  test('comes before Range', async () => {
    const { caller, cid } = await staged()
    const answer = await caller.retrieve(cid, { headers: { 'If-None-Match': `"${cid}"`, Range: 'bytes=0-0' } })
    expect(answer.status).toBe(304)
  })

  test('an unknown cid is 404 whatever the condition', async () => {
    const cid = rawCidOf(sampleBytes()).base32
    expect((await target.anonymous().retrieve(cid, { headers: { 'If-None-Match': '*' } })).status).toBe(404)
  })
})

describe('Content-Disposition', () => {
  test('an ASCII name is a quoted filename, shown inline', async () => {
    const { caller, cid } = await staged({ filename: 'annual report.txt' })
    expect(headerOf(await caller.retrieve(cid), 'content-disposition')).toMatch(
      /^inline; filename="annual report\.txt"$/,
    )
  })

  test('a name beyond ASCII has an ASCII fallback and filename*', async () => {
    const { caller, cid } = await staged({ filename: 'Größe € 日本.txt' })
    const disposition = headerOf(await caller.retrieve(cid), 'content-disposition')
    expect(disposition).toMatch(/^inline; filename="[\x20-\x7e]+"; filename\*=UTF-8''\S+$/)
    expect(decodeURIComponent(/filename\*=UTF-8''(\S+)$/.exec(disposition)?.[1] ?? '')).toBe('Größe € 日本.txt')
  })

  test('quotes, semicolons and percent signs in a name stay inside it', async () => {
    const { caller, cid } = await staged({ filename: 'a"b; filename=evil.exe %41.txt' })
    const answer = await caller.retrieve(cid)
    expect(answer.status).toBe(200)
    const disposition = headerOf(answer, 'content-disposition')
    const outside = disposition.replace(/"(\\.|[^"\\])*"|UTF-8''\S+/g, '')
    expect(outside).not.toContain('evil')
    expect(disposition).toMatch(/^inline;/)
  })

  test('?filename= names the download for this answer only', async () => {
    const { caller, cid } = await staged({ filename: 'stored.txt' })
    const named = headerOf(await caller.retrieve(cid, { query: '?filename=other%20name.txt' }), 'content-disposition')
    expect(named).toContain('filename="other name.txt"')
    expect(headerOf(await caller.retrieve(cid), 'content-disposition')).toContain('stored.txt')
  })

  test('?download=true makes an attachment', async () => {
    const { caller, cid } = await staged({ filename: 'stored.txt' })
    const answer = await caller.retrieve(cid, { query: '?download=true' })
    expect(headerOf(answer, 'content-disposition')).toMatch(/^attachment; filename=("stored\.txt"|stored\.txt)$/)
  })

  test.for(['a%0d%0aSet-Cookie:%20x=1', 'a%0ab', 'a%00b', '..%2f..%2fetc', 'a%5cb', '%ff%fe', 'x'.repeat(5_000)])(
    '?filename=%s is refused or made harmless, and adds no header',
    async (filename) => {
      const { caller, cid } = await staged()
      const answer = await caller.retrieve(cid, { query: `?filename=${filename}` })
      expect(answer.headers).not.toHaveProperty('set-cookie')
      if (answer.status !== 200) return void expectProblem(answer, 400, ['invalid_filename', 'bad_request'])
      expect(headerOf(answer, 'content-disposition')).not.toMatch(/[/\\](?!")|\.\./)
    },
  )

  test.for([
    'text/html',
    'TEXT/HTML; charset=utf-8',
    'text/html;charset=utf-7',
    'image/svg+xml',
    'application/xhtml+xml',
    'text/xml',
    'application/xml',
    'application/rss+xml',
    'application/pdf',
  ])('%s is an attachment, its type verbatim', async (contentType, context) => {
    const { caller, cid } = await staged({ contentType, filename: 'page' })
    if (target.contentUrl.origin !== target.baseUrl.origin) {
      target.needsOwnServer(context, 'content has an origin of its own there')
    }
    const answer = await caller.retrieve(cid)
    expect(headerOf(answer, 'content-disposition')).toMatch(/^attachment\b/)
    expect(headerOf(answer, 'content-type')).toBe(contentType)
    expect(answer.headers).toMatchObject(HEADERS_OF_EVERY_ANSWER)
  })

  test.for(['text/plain', 'image/png', 'video/mp4'])('%s is shown inline', async (contentType) => {
    const { caller, cid } = await staged({ contentType, filename: 'page' })
    expect(headerOf(await caller.retrieve(cid), 'content-disposition')).toMatch(/^inline\b/)
  })
})
