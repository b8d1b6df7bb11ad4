import { describe, expect, test } from 'vitest'
import { headerOf } from './caller.ts'
import { hexOf, rawCidOf } from './content-ids.ts'
import { expectProblem } from './problem.ts'
import type { UploadResult } from './shapes.ts'
import { sampleBytes, useTarget } from './target.ts'

const target = useTarget()
const DAY_MS = 86_400_000

describe('upload result fields', () => {
  test('a sponsored upload answers every field of the result', async () => {
    const bytes = sampleBytes(321)
    const cid = rawCidOf(bytes).base32
    const caller = target.anonymous()
    const before = Date.now()
    const answer = await caller.upload(bytes, { headers: { 'X-Term-Days': undefined } })
    expect(answer.status, answer.body.toString()).toBe(200)
    expect(headerOf(answer, 'content-type')).toMatch(/^application\/json\b/)
    const result = answer.json<UploadResult>()
    const { termDays } = target.info.tiers.sponsored
    expect(result).toMatchObject({
      cid,
      size: 321,
      retrievalUrl: `${target.contentUrl.origin}/p/${cid}`,
      term: `${termDays} days`,
      sponsored: true,
      owner: null,
      sha256: hexOf(bytes),
      verified: true,
    })
    expect(result.dealId).toMatch(/^d-0x[0-9a-f]+$/)
    expect(['staged', 'proposed', 'active']).toContain(result.status)
    expect(result.expiresAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/)
    const expiresInMs = Date.parse(result.expiresAt) - before
    expect(Math.abs(expiresInMs - termDays * DAY_MS)).toBeLessThan(60_000)
  })

  test('the first seven fields come in the documented order', async () => {
    const answer = await target.anonymous().upload(sampleBytes())
    expect(Object.keys(answer.json<object>()).slice(0, 7)).toEqual([
      'cid',
      'dealId',
      'size',
      'retrievalUrl',
      'term',
      'sponsored',
      'owner',
    ])
  })

  test('an upload with a token is not sponsored and is owned by its email, for the term of that tier', async (context) => {
    const user = await target.anyUser(context)
    const result = await user.stage(sampleBytes(), { headers: { 'X-Term-Days': undefined } })
    expect(result).toMatchObject({
      sponsored: false,
      owner: user.email,
      term: `${target.info.tiers.token.termDays} days`,
    })
  })

  test('the cid is answered as it was sent, also in upper case', async () => {
    const bytes = sampleBytes()
    const cid = rawCidOf(bytes).base32.toUpperCase()
    const result = await target.anonymous().stage(bytes, { cid })
    expect(result.cid).toBe(cid)
  })

  test('the file is readable at retrievalUrl as soon as the answer is there', async () => {
    const bytes = sampleBytes(5_000)
    const caller = target.anonymous()
    const { retrievalUrl } = await caller.stage(bytes, { contentType: 'application/x-first' })
    const answer = await caller.retrieve(new URL(retrievalUrl).pathname.slice('/p/'.length))
    expect(answer.status).toBe(200)
    expect(answer.body.equals(bytes)).toBe(true)
    expect(headerOf(answer, 'content-type')).toBe('application/x-first')
  })
})

describe('upload headers', () => {
  test('Content-Type is given back verbatim, parameters and case included', async () => {
    const bytes = sampleBytes()
    const caller = target.anonymous()
    const contentType = 'Text/X-Acceptance; Charset="utf-8"; q=1'
    const { cid } = await caller.stage(bytes, { contentType })
    expect(headerOf(await caller.retrieve(cid), 'content-type')).toBe(contentType)
  })

  test.for([
    ['without Content-Type', undefined],
    ['with an empty Content-Type', ''],
    ['with a Content-Type that has no subtype', 'text'],
    ['with a Content-Type that has an empty subtype', 'text/'],
    ['with a Content-Type that has a nameless parameter', 'text/plain; =x'],
    ['with two media types in Content-Type', 'text/plain, text/html'],
    ['with a space inside the media type', 'text /plain'],
    ['with a percent-encoded line break and a header in Content-Type', 'text/plain%0d%0aX-Evil: 1'],
  ])('refuses an upload %s', async ([, contentType]) => {
    const answer = await target.anonymous().upload(sampleBytes(), { headers: { 'Content-Type': contentType } })
    expectProblem(answer, 400, 'invalid_content_type')
  })

  test('X-Filename is URL-decoded and given back in Content-Disposition', async () => {
    const bytes = sampleBytes()
    const caller = target.anonymous()
    const { cid } = await caller.stage(bytes, { headers: { 'X-Filename': 'annual%20report.txt' } })
    expect(headerOf(await caller.retrieve(cid), 'content-disposition')).toContain('filename="annual report.txt"')
  })

  test('a file name of exactly 255 bytes of UTF-8 is taken', async () => {
    const filename = `${'é'.repeat(125)}a.txt`
    expect(Buffer.byteLength(filename)).toBe(255)
    expect((await target.anonymous().upload(sampleBytes(), { filename })).status).toBe(200)
  })

  test.for([
    ['an encoded CR and LF', 'a%0D%0AX-Evil:%201'],
    ['an encoded LF', 'a%0Ab'],
    ['an encoded NUL', 'a%00.txt'],
    ['an encoded DEL', 'a%7Fb'],
    ['a slash', 'a%2Fb.txt'],
    ['a plain slash', '../../etc/passwd'],
    ['a backslash', 'a%5Cb.txt'],
    ['only dots', '..'],
    ['a broken escape', 'a%zz'],
    ['bytes that are not UTF-8', 'a%ff%fe'],
    ['256 bytes of UTF-8', encodeURIComponent('é'.repeat(128))],
  ])('refuses an X-Filename with %s', async ([, filename = '']) => {
    const answer = await target.anonymous().upload(sampleBytes(), { headers: { 'X-Filename': filename } })
    expectProblem(answer, 400, 'invalid_filename')
  })

  test('X-Term-Days asks for a shorter term', async (context) => {
    const user = await target.anyUser(context)
    const before = Date.now()
    const result = await user.stage(sampleBytes(), { headers: { 'X-Term-Days': '2' } })
    expect(result.term).toBe('2 days')
    expect(Math.abs(Date.parse(result.expiresAt) - before - 2 * DAY_MS)).toBeLessThan(60_000)
  })

  test.for(['0', '-1', '1.5', '1e3', 'soon', '1000000'])('refuses X-Term-Days: %s', async (days) => {
    const answer = await target.anonymous().upload(sampleBytes(), { headers: { 'X-Term-Days': days } })
    expectProblem(answer, 400, 'invalid_term')
  })

  test('refuses an X-Visibility that is neither public nor private', async (context) => {
    const user = await target.anyUser(context)
    expectProblem(
      await user.upload(sampleBytes(), { headers: { 'X-Visibility': 'secret' } }),
      400,
      'invalid_visibility',
    )
  })

  test('refuses a private upload without a token', async () => {
    const answer = await target.anonymous().upload(sampleBytes(), { headers: { 'X-Visibility': 'private' } })
    expectProblem(answer, 400, 'invalid_visibility')
  })

  test('Content-Encoding does not make the service decompress: the bytes are given back as sent', async () => {
    const bytes = sampleBytes()
    const caller = target.anonymous()
    const answer = await caller.upload(bytes, { headers: { 'Content-Encoding': 'gzip' } })
    if (answer.status === 200) expect((await caller.retrieve(rawCidOf(bytes).base32)).body.equals(bytes)).toBe(true)
    else expect([400, 415], answer.body.toString()).toContain(answer.status)
  })
})
