/**
 * The order of the checks before the first body byte, and `Expect: 100-continue`.
 *
 * Each request has every fault from its row downwards, and is sent without a body: what comes back is the first fault.
 */
import { describe, expect, test } from 'vitest'
import { hexOf, rawCidOf } from './content-ids.ts'
import { exchangeRaw, expectRefused, head, NO_CLOSE_MS, RawConnection } from './raw-http.ts'
import { sampleBytes, useTarget } from './target.ts'

const target = useTarget()
const TOO_LONG = 2 ** 50

interface Faults {
  cid?: string
  framing?: string
  length?: string
  contentType?: string
  filename?: string
  term?: string
  visibility?: string
  authorization?: string
}

const ALL: Required<Faults> = {
  framing: 'Transfer-Encoding: gzip, chunked',
  cid: 'no',
  length: 'Content-Length: 0',
  contentType: 'nonsense',
  filename: 'a%00b',
  term: 'never',
  visibility: 'hidden',
  authorization: 'Bearer pk_live_a.b.c',
}

function uploadHead(faults: Faults, ...extra: string[]): string {
  return head(
    `POST /api/upload?cid=${faults.cid ?? rawCidOf(sampleBytes()).base32} HTTP/1.1`,
    `Host: ${target.directUrl.host}`,
    faults.framing ?? faults.length ?? `Content-Length: ${TOO_LONG}`,
    `Content-Type: ${faults.contentType ?? 'text/plain'}`,
    ...(faults.filename === undefined ? [] : [`X-Filename: ${faults.filename}`]),
    ...(faults.term === undefined ? [] : [`X-Term-Days: ${faults.term}`]),
    ...(faults.visibility === undefined ? [] : [`X-Visibility: ${faults.visibility}`]),
    ...(faults.authorization === undefined ? [] : [`Authorization: ${faults.authorization}`]),
    ...extra,
  )
}

function without(...names: (keyof Faults)[]): Faults {
  return Object.fromEntries(Object.entries(ALL).filter(([name]) => !names.includes(name as keyof Faults)))
}

const SYNTAX = ['contentType', 'filename', 'term', 'visibility'] as const

const ORDER: readonly { first: string; faults: Faults; status: number; code: string }[] = [
  { first: 'framing', faults: without(), status: 411, code: 'length_required' },
  { first: 'the cid', faults: without('framing'), status: 400, code: 'invalid_cid' },
  { first: 'the empty body', faults: without('framing', 'cid'), status: 400, code: 'empty_body' },
  { first: 'Content-Type', faults: without('framing', 'cid', 'length'), status: 400, code: 'invalid_content_type' },
  {
    first: 'X-Filename',
    faults: { filename: ALL.filename, authorization: ALL.authorization },
    status: 400,
    code: 'invalid_filename',
  },
  {
    first: 'X-Term-Days',
    faults: { term: ALL.term, authorization: ALL.authorization },
    status: 400,
    code: 'invalid_term',
  },
  {
    first: 'X-Visibility',
    faults: { visibility: ALL.visibility, authorization: ALL.authorization },
    status: 400,
    code: 'invalid_visibility',
  },
  {
    first: 'the credentials',
    faults: without('framing', 'cid', 'length', ...SYNTAX),
    status: 401,
    code: 'invalid_token',
  },
  { first: 'the per-file size', faults: {}, status: 413, code: 'too_large' },
]

describe('the order of checks', () => {
  test.concurrent.for(ORDER)(
    'answers for $first first when everything after it is wrong too',
    async ({ faults, status, code }) => {
      expectRefused(await exchangeRaw(target.directUrl, uploadHead(faults), NO_CLOSE_MS), [status], [code], {
        closed: false,
      })
    },
  )

  test('answers no_body before credentials', async () => {
    const faults = uploadHead({ authorization: ALL.authorization }).replace(/Content-Length: \d+\r\n/, '')
    expectRefused(await exchangeRaw(target.directUrl, faults, NO_CLOSE_MS), [400], ['no_body'], { closed: false })
  })

  test('answers for the scope before the per-file size', async (context) => {
    const user = await target.freshUser(context, { scopes: ['get'] })
    const raw = await exchangeRaw(target.directUrl, uploadHead({ authorization: `Bearer ${user.token}` }), NO_CLOSE_MS)
    expectRefused(raw, [403], ['insufficient_scope'], { closed: false })
  })

  test('answers for the per-file size before the quota', async (context) => {
    const user = await target.freshUser(context, { quotaMb: 1 })
    const raw = await exchangeRaw(target.directUrl, uploadHead({ authorization: `Bearer ${user.token}` }), NO_CLOSE_MS)
    expectRefused(raw, [413], ['too_large'], { closed: false })
  })
})

describe('Expect: 100-continue', () => {
  test.concurrent.for(ORDER)('refuses before any 100 when $first is wrong', async ({ faults, status, code }) => {
    const raw = await exchangeRaw(target.directUrl, uploadHead(faults, 'Expect: 100-continue'))
    expectRefused(raw, [status], [code])
  })

  test('refuses before any 100 when the scope is missing', async (context) => {
    const user = await target.freshUser(context, { scopes: ['list'] })
    const raw = await exchangeRaw(
      target.directUrl,
      uploadHead({ authorization: `Bearer ${user.token}`, length: 'Content-Length: 10' }, 'Expect: 100-continue'),
    )
    expectRefused(raw, [403], ['insufficient_scope'])
  })

  test('refuses before any 100 when the quota is used up', async (context) => {
    const user = await target.freshUser(context, { quotaMb: 1 })
    const raw = await exchangeRaw(
      target.directUrl,
      uploadHead({ authorization: `Bearer ${user.token}`, length: 'Content-Length: 1048577' }, 'Expect: 100-continue'),
    )
    expectRefused(raw, [429], ['quota_exceeded'])
  })

  test('a good upload is told 100, and answered 200 once the body is there', async (context) => {
    const user = await target.anyUser(context)
    const bytes = sampleBytes(2_000)
    const connection = await RawConnection.open(target.directUrl)
    try {
      connection.write(
        uploadHead(
          { cid: hexOf(bytes), length: 'Content-Length: 2000', authorization: `Bearer ${user.token}`, term: '1' },
          'Expect: 100-Continue',
        ),
      )
      expect(await connection.until(() => connection.responses.length > 0, 5_000)).toBe(true)
      expect(connection.responses.map((response) => response.status)).toEqual([100])
      connection.write(bytes)
      expect(await connection.until(() => connection.finals.length > 0, 5_000)).toBe(true)
      expect(connection.responses.map((response) => response.status)).toEqual([100, 200])
    } finally {
      connection.destroy()
    }
  })

  test.concurrent.for(['200-ok', '100-continue, x', 'gzip'])('refuses "Expect: %s" with 417', async (expectation) => {
    const raw = await exchangeRaw(
      target.directUrl,
      uploadHead({ length: 'Content-Length: 10', cid: 'a'.repeat(64) }, `Expect: ${expectation}`),
    )
    expectRefused(raw, [417], ['expectation_failed'])
  })
})

describe('early refusal without Expect', () => {
  test('the status is readable by a client that sends its whole body before it reads', async (context) => {
    target.needsOwnServer(context, 'needs a small per-file limit')
    const size = target.info.tiers.sponsored.fileBytes * 2
    const statuses = await Promise.all(
      Array.from({ length: 8 }, async () => (await target.anonymous().upload(sampleBytes(size))).status),
    )
    expect(statuses).toEqual(Array.from({ length: 8 }, () => 413))
  })
})
