/**
 * Upload rules 1 to 8 and the error table of the source document.
 *
 * Elsewhere: `storage_offline` in server-variants.test.ts; `rate_limited`, `quota_exceeded` and `too_large` to the byte in
 * limits.test.ts; `revoked_token` at every endpoint in tokens.test.ts. `stage_failed` has no configuration that a caller
 * could reach, so it is covered beside the code, in the unit tests of the staging use case.
 */
import { describe, expect, test } from 'vitest'
import { headerOf } from './caller.ts'
import { hexOf, rawCidOf } from './content-ids.ts'
import { expectProblem } from './problem.ts'
import { exchangeRaw, expectRefused, head, NO_CLOSE_MS } from './raw-http.ts'
import type { UploadResult } from './shapes.ts'
import { MIB, sampleBytes, useTarget } from './target.ts'
import { readToken } from './token-forge.ts'

const target = useTarget()
/** A UnixFS file of no bytes, as IPFS tools name it. */
const EMPTY_UNIXFS_FILE = 'QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH'

describe('upload rules', () => {
  test('rule 1: refuses a missing cid', async () => {
    const answer = await target.anonymous().request('POST', '/api/upload', {
      headers: { 'Content-Type': 'text/plain' },
      body: 'x',
    })
    expectProblem(answer, 400, 'invalid_cid')
  })

  test.for([
    ['an empty cid', ''],
    ['a cid of 7 characters', 'abcdefg'],
    ['a cid of 81 characters', 'a'.repeat(81)],
    ['a cid with a dash', 'abcd-efgh'],
    ['a cid with an underscore', 'abcd_efgh'],
    ['a cid with an encoded slash', 'abcd%2Fefgh'],
    ['a cid with an encoded NUL', 'abcdefgh%00'],
    ['a cid with an encoded line break at its end', 'abcdefgh%0A'],
    ['a cid with a full-width letter', `abcdefg${encodeURIComponent('\uff41')}`],
    ['a cid with a dotless i, which some languages fold', `abcdefg${encodeURIComponent('\u0131')}`],
    ['a cid with a Kelvin sign, which case folding maps to k', `abcdefg${encodeURIComponent('\u212a')}`],
    ['a cid of 10 KiB', 'a'.repeat(10_240)],
  ])('rule 1: refuses %s', async ([, cid = '']) => {
    expectProblem(await target.anonymous().upload(sampleBytes(), { cid }), 400, 'invalid_cid')
  })

  test('rule 2: refuses a request without a body as no_body', async () => {
    const cid = rawCidOf(sampleBytes()).base32
    const raw = await exchangeRaw(
      target.directUrl,
      head(`POST /api/upload?cid=${cid} HTTP/1.1`, `Host: ${target.directUrl.host}`, 'Content-Type: text/plain'),
      NO_CLOSE_MS,
    )
    expectRefused(raw, [400], ['no_body'], { closed: false })
  })

  test('PUT does what POST does', async () => {
    const caller = target.anonymous()
    const bytes = sampleBytes()
    const cid = rawCidOf(bytes).base32
    const headers = { 'Content-Type': 'text/plain' }
    const put = await caller.request('PUT', `/api/upload?cid=${cid}`, { headers, body: bytes })
    expect(put.status).toBe(200)
    expect(put.json<UploadResult>()).toMatchObject({ cid, size: bytes.length, sponsored: true })
    const post = await caller.upload(bytes)
    expect(post.json<UploadResult>().dealId).toBe(put.json<UploadResult>().dealId)
    expectProblem(await caller.request('PUT', '/api/upload', { headers, body: bytes }), 400, 'invalid_cid')
  })

  test.for(['gzip', 'br', 'GZIP', 'identity, gzip', 'x-unknown'])(
    'refuses Content-Encoding: %s as unsupported_encoding',
    async (encoding) => {
      const answer = await target.anonymous().upload(sampleBytes(), { headers: { 'Content-Encoding': encoding } })
      const problem = expectProblem(answer, 415, 'unsupported_encoding')
      expect(problem.detail).toContain('Send the raw bytes')
    },
  )

  test('takes Content-Encoding: identity, which is none', async () => {
    const answer = await target.anonymous().upload(sampleBytes(), { headers: { 'Content-Encoding': 'Identity' } })
    expect(answer.status).toBe(200)
  })

  test('refuses a form as unsupported_media_type, and says what to do', async () => {
    const bytes = sampleBytes()
    const contentType = 'multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW'
    const problem = expectProblem(
      await target.anonymous().upload(bytes, { contentType }),
      415,
      'unsupported_media_type',
    )
    expect(problem.detail).toBe(
      "Send the raw bytes: this body is multipart/form-data. With curl, use -T FILE -H 'Content-Type: TYPE' instead of -F.",
    )
    // The cid and the length come first.
    expectProblem(await target.anonymous().upload(bytes, { contentType, cid: 'short' }), 400, 'invalid_cid')
    const { base32: cid } = rawCidOf(bytes)
    expectProblem(await target.anonymous().upload(Buffer.alloc(0), { contentType, cid }), 400, 'empty_body')
  })

  test('rule 2: refuses a body of zero bytes as empty_body, unless the cid is that of no bytes', async () => {
    const empty = Buffer.alloc(0)
    for (const cid of [rawCidOf(sampleBytes()).base32, 'myfile01']) {
      expectProblem(await target.anonymous().upload(empty, { cid }), 400, 'empty_body')
    }
    for (const cid of [rawCidOf(empty).base32, hexOf(empty), EMPTY_UNIXFS_FILE]) {
      const caller = target.anonymous()
      expect(await caller.stage(empty, { cid, filename: 'empty.txt' })).toMatchObject({ cid, size: 0, verified: true })
      const read = await caller.retrieve(cid)
      expect([read.status, read.body.length, headerOf(read, 'content-length')]).toEqual([200, 0, '0'])
      expectProblem(await caller.retrieve(cid, { headers: { Range: 'bytes=0-0' } }), 416, 'range_not_satisfiable')
      expect((await caller.retrieve(cid, { method: 'HEAD' })).status).toBe(200)
    }
    const block = await target.anonymous().get(`/ipfs/${rawCidOf(empty).base32}?format=raw`)
    expect([block.status, block.body.length]).toEqual([200, 0])
  })

  test('an empty file is a file like any other', async (context) => {
    const user = await target.freshUser(context)
    const { cid, dealId } = await user.stage(Buffer.alloc(0), { filename: 'empty.txt' })
    expect((await user.stage(Buffer.alloc(0), { headers: { Expect: '100-continue' } })).dealId).toBe(dealId)
    expect((await user.files()).files).toMatchObject([{ cid, size: 0, filename: 'empty.txt' }])
    expect((await user.usage()).today).toMatchObject({ bytes: 0, files: 1, reservedBytes: 0 })
    const compose = await user.post(`/api/compose?cid=${cid}`, { parts: [cid, cid] })
    expect(compose.status).toBe(200)
    await user.request('DELETE', `/api/files/${cid}`)
    expect((await user.usage()).stored).toMatchObject({ bytes: 0, files: 0 })
  })

  test('rule 3: refuses an invalid token and does not fall back to sponsored', async () => {
    const bytes = sampleBytes()
    const caller = target.anonymous()
    const answer = await caller.with({ Authorization: 'Bearer pk_live_no.such.token' }).upload(bytes)
    expectProblem(answer, 401, 'invalid_token')
    expect((await caller.retrieve(rawCidOf(bytes).base32)).status).toBe(404)
  })

  test.for([
    'Bearer',
    'Bearer ',
    'Basic dXNlcjpwYXNz',
    'Negotiate abc',
    'pk_live_x.y.z',
    'Bearer null',
    'Token pk_live_x.y.z',
  ])('rule 3: refuses "Authorization: %s" instead of treating it as absent', async (authorization) => {
    const answer = await target.anonymous().with({ Authorization: authorization }).upload(sampleBytes())
    expectProblem(answer, 401, 'invalid_token')
  })

  test('rule 4: refuses a token without the put scope', async (context) => {
    const user = await target.freshUser(context, { scopes: ['get', 'list', 'pin'] })
    const problem = expectProblem(await user.upload(sampleBytes()), 403, 'insufficient_scope')
    expect(problem).toMatchObject({ required: 'put' })
  })

  test('rule 5: refuses a file over the per-file limit of the tier by its declared size alone', async (context) => {
    const user = await target.anyUser(context)
    for (const [lines, limit] of [
      [[], target.info.tiers.sponsored.fileBytes],
      [[`Authorization: Bearer ${user.token}`], target.info.tiers.token.fileBytes],
    ] as const) {
      const raw = await exchangeRaw(
        target.directUrl,
        head(
          `POST /api/upload?cid=${rawCidOf(sampleBytes()).base32} HTTP/1.1`,
          `Host: ${target.directUrl.host}`,
          'Content-Type: text/plain',
          `Content-Length: ${limit + 1}`,
          ...lines,
        ),
      )
      expectRefused(raw, [413], ['too_large'])
      expect(JSON.parse(raw.first?.body ?? '{}')).toMatchObject({ limit, size: limit + 1 })
    }
  })

  test('rule 6: refuses a token upload over the daily quota of its user', async (context) => {
    const user = await target.freshUser(context, { quotaMb: 1 })
    expect(readToken(user.token).payload.quotaMb).toBe(1)
    await user.stage(sampleBytes(MIB - 10))
    const problem = expectProblem(await user.upload(sampleBytes(11)), 429, 'quota_exceeded')
    expect(problem).toMatchObject({ used: MIB - 10, limit: MIB })
  })

  test('rule 6: refuses a sponsored upload over the daily cap of its address', async (context) => {
    target.needsOwnServer(context, 'needs a small sponsored cap and an address of its own')
    const caller = target.anonymous()
    await caller.stage(sampleBytes(MIB))
    await caller.stage(sampleBytes(MIB))
    const problem = expectProblem(await caller.upload(sampleBytes(1)), 429, 'rate_limited')
    expect(problem).toMatchObject({ used: 2 * MIB, limit: 2 * MIB })
  })

  test('rule 8: the pieces of a file that a client splits are uploads of their own', async (context) => {
    const user = await target.freshUser(context)
    const whole = sampleBytes(30_000)
    const pieces = [whole.subarray(0, 20_000), whole.subarray(20_000)]
    const results: UploadResult[] = []
    for (const piece of pieces) results.push(await user.stage(piece, { contentType: 'application/octet-stream' }))
    expect(results.map((result) => result.size)).toEqual([20_000, 10_000])
    expect(new Set(results.map((result) => result.dealId)).size).toBe(2)
    const read = await Promise.all(results.map((result) => user.retrieve(result.cid)))
    expect(Buffer.concat(read.map((answer) => answer.body)).equals(whole)).toBe(true)
    expect((await user.usage()).today).toMatchObject({ bytes: 30_000, files: 2 })
  })
})

describe('retries', () => {
  test('the same cid again answers 200 with the same dealId and charges nothing', async (context) => {
    const user = await target.freshUser(context)
    const bytes = sampleBytes(777)
    const first = await user.stage(bytes)
    const second = await user.stage(bytes)
    expect(second).toMatchObject({ dealId: first.dealId, cid: first.cid, size: 777 })
    expect((await user.usage()).today).toMatchObject({ bytes: 777, files: 1, reservedBytes: 0 })
    expect((await user.files()).count).toBe(1)
  })

  test('a sponsored retry from the same address has the same dealId', async (context) => {
    target.needsOwnServer(context, 'needs an address of its own')
    const caller = target.anonymous()
    const bytes = sampleBytes()
    const first = await caller.stage(bytes)
    expect((await caller.stage(bytes)).dealId).toBe(first.dealId)
  })

  test('a retry with other bytes is still verified', async (context) => {
    const user = await target.freshUser(context)
    const bytes = sampleBytes(50)
    const { cid } = await user.stage(bytes)
    expectProblem(await user.upload(sampleBytes(50), { cid }), 422, 'cid_mismatch')
    expect((await user.usage()).today.bytes).toBe(50)
    expect((await user.retrieve(cid)).body.equals(bytes)).toBe(true)
  })

  test('a retry is free even when the quota is full', async (context) => {
    const user = await target.freshUser(context, { quotaMb: 1 })
    const bytes = sampleBytes(MIB)
    const first = await user.stage(bytes)
    expect((await user.stage(bytes)).dealId).toBe(first.dealId)
    expect((await user.usage()).today).toMatchObject({ bytes: MIB, remainingBytes: 0 })
  })

  test('parallel retries of one upload end as one file, one deal and one charge', async (context) => {
    const user = await target.freshUser(context)
    const bytes = sampleBytes(20_000)
    const results = await Promise.all(Array.from({ length: 6 }, () => user.stage(bytes)))
    expect(new Set(results.map((result) => result.dealId)).size).toBe(1)
    expect((await user.usage()).today).toMatchObject({ bytes: 20_000, files: 1, reservedBytes: 0 })
  })

  test('two users who stage one object have a file, a deal and a charge each', async (context) => {
    const [one, two] = [await target.freshUser(context), await target.freshUser(context)]
    const bytes = sampleBytes(4_321)
    const [first, second] = [await one.stage(bytes), await two.stage(bytes)]
    expect(first.sha256).toBe(hexOf(bytes))
    expect(second.dealId).not.toBe(first.dealId)
    for (const user of [one, two]) {
      expect((await user.usage()).today.bytes).toBe(4_321)
      expect((await user.files()).files.map((file) => file.cid)).toEqual([first.cid])
    }
  })
})
