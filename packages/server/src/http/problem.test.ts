import { ERROR_SENTENCES, type ErrorCode, type ErrorEvidence, LadeError } from '@lade/core/errors'
import { problem as problemSchema } from '@lade/core/wire'
import { describe, expect, it } from 'vitest'
import { asLadeError, problemBody, problemHeaders, problemMediaType, STATUS } from './problem.ts'

const quota = { used: 5, limit: 6, retryAfterSeconds: 7 }
const none = {}
const reason = { reason: 'It is a test.' }
const wait = { retryAfterSeconds: 60 }

/** Evidence and status for every code; a new code does not compile until it stands here. */
const TABLE: { readonly [Code in ErrorCode]: readonly [number, ErrorEvidence[Code]] } = {
  bad_request: [400, reason],
  headers_too_large: [431, { limitBytes: 16_384 }],
  body_timeout: [408, { receivedBytes: 3 }],
  request_timeout: [408, none],
  expectation_failed: [417, { expect: '200-ok' }],
  misdirected_request: [421, { host: 'example.com' }],
  length_required: [411, none],
  invalid_cid: [400, reason],
  no_body: [400, none],
  empty_body: [400, none],
  invalid_content_type: [400, reason],
  unsupported_encoding: [415, { encoding: 'gzip', ...reason }],
  unsupported_media_type: [415, { contentType: 'multipart/form-data', ...reason }],
  invalid_filename: [400, reason],
  invalid_term: [400, reason],
  invalid_visibility: [400, reason],
  invalid_json: [400, reason],
  invalid_email: [400, reason],
  invalid_label: [400, reason],
  invalid_scopes: [400, reason],
  invalid_jti: [400, reason],
  invalid_cursor: [400, none],
  idempotency_key_reused: [422, none],
  not_found: [404, none],
  method_not_allowed: [405, { allow: ['GET', 'HEAD'] }],
  internal_error: [500, none],
  no_token: [401, none],
  invalid_token: [401, none],
  revoked_token: [401, { jti: 'a' }],
  insufficient_scope: [403, { required: 'put' }],
  unverified_account: [403, { setting: 'LADE_SIGNUP' }],
  invalid_session: [401, none],
  admin_refused: [403, { setting: 'LADE_SIGNUP' }],
  signup_closed: [403, none],
  foreign_origin: [403, { origin: 'https://example.com' }],
  caller_blocked: [403, { caller: 'user', reason: 'It is a test.' }],
  email_code_required: [403, none],
  invalid_challenge: [403, none],
  invalid_code: [403, { attemptsLeft: 4 }],
  mail_failed: [503, wait],
  auth_offline: [503, none],
  invalid_signature: [401, { reason: 'It has expired.' }],
  replayed_signature: [401, none],
  digest_mismatch: [400, { expected: 'a', actual: 'b' }],
  invalid_nonce: [401, none],
  chain_offline: [503, wait],
  too_large: [413, { limit: 1, size: 2 }],
  rate_limited: [429, quota],
  quota_exceeded: [429, quota],
  too_many_uploads: [429, quota],
  over_budget: [429, { work: 'hash', unit: 'milliseconds', used: 6000, limit: 5000, retryAfterSeconds: 7 }],
  insufficient_storage: [507, wait],
  storage_offline: [503, wait],
  storage_failed: [503, wait],
  read_only: [503, wait],
  shutting_down: [503, wait],
  incomplete_body: [400, { expectedBytes: 2, receivedBytes: 1 }],
  cid_mismatch: [422, { expected: 'a', actual: 'b' }],
  cid_conflict: [409, { cid: 'a', actual: 'b' }],
  invalid_car: [400, reason],
  incomplete_dag: [422, { root: 'a', missing: ['b'] }],
  offset_mismatch: [409, { expectedOffset: 5, providedOffset: 3 }],
  upload_in_use: [423, wait],
  not_appendable: [403, reason],
  checksum_mismatch: [460, { algorithm: 'sha1', expected: 'YQ==', actual: 'Yg==' }],
  unsupported_tus_version: [412, { supported: '1.0.0' }],
  lease_lost: [503, wait],
  stage_failed: [502, reason],
  invalid_parts: [400, reason],
  missing_parts: [422, { missing: ['a'], count: 1 }],
  missing_entries: [422, { missing: ['a'], count: 1 }],
  private_entries: [409, { entries: ['a'], count: 1 }],
  foreign_parts: [403, { parts: ['a'], count: 1 }],
  not_enough_provers: [409, { asked: 3, available: 2 }],
  deal_ended: [409, { dealStatus: 'expired' }],
  not_placed: [409, { dealStatus: 'staged' }],
  prove_failed: [502, { reason: 'The prover does not respond.', ...wait }],
  gone: [410, { reason: 'expired' }],
  blocked: [451, { reason: 'It is a test.', blockedAt: '2026-11-25T00:00:00.000Z' }],
  not_acceptable: [406, reason],
  only_if_cached: [412, none],
  not_implemented: [501, reason],
  invalid_redirects: [500, reason],
  range_not_satisfiable: [416, { size: 10 }],
  precondition_failed: [412, { etag: '"a"' }],
  invalid_share_link: [403, none],
  unreachable: [502, { url: 'http://example.org', ...reason }],
  unexpected_answer: [502, { httpStatus: 502, ...reason }],
  source_changed: [409, reason],
}
const CODES = Object.keys(TABLE) as ErrorCode[]
const errorOf = (code: ErrorCode) => new LadeError(code, TABLE[code][1])

describe('problemBody', () => {
  it.each(CODES)('%s has its status, its sentence and its evidence', (code) => {
    const [status, evidence] = TABLE[code]
    const body = problemBody(errorOf(code), 'r-1')
    expect(STATUS[code]).toBe(status)
    expect(body).toMatchObject({
      error: code,
      status,
      title: ERROR_SENTENCES[code],
      type: `/docs/errors#${code}`,
      requestId: 'r-1',
      ...evidence,
    })
    expect(body.detail).toMatch(/^[A-Z0-9].*\.$/)
    expect(body.detail).not.toContain(ERROR_SENTENCES[code])
    expect(body.detail).not.toMatch(/undefined|NaN|\[object/)
    expect(body.detail.length).toBeLessThanOrEqual(200)
    expect(problemSchema.safeParse(body).success).toBe(true)
  })

  it.each(CODES)('%s has evidence that cannot take the place of a field of the body', (code) => {
    const fields = ['error', 'detail', 'type', 'title', 'status', 'requestId']
    expect(Object.keys(TABLE[code][1]).filter((name) => fields.includes(name))).toEqual([])
  })

  it('shows no cause and no stack', () => {
    const error = new LadeError('storage_failed', wait, { cause: new Error('EIO /srv/secret') })
    expect(JSON.stringify(problemBody(error, 'r-1'))).not.toMatch(/EIO|secret|at /)
  })
})

describe('problemHeaders', () => {
  it.each(CODES)('%s is never cached', (code) => {
    expect(problemHeaders(errorOf(code))['cache-control']).toBe('no-store')
  })

  it.each(CODES.filter((code) => TABLE[code][0] === 401))('%s asks for a bearer token', (code) => {
    const isOfToken = code === 'invalid_token' || code === 'revoked_token'
    const expected = isOfToken ? 'Bearer error="invalid_token"' : 'Bearer'
    expect(problemHeaders(errorOf(code))['www-authenticate']).toBe(expected)
  })

  it.each(CODES.filter((code) => TABLE[code][0] === 429))('%s says when to come again', (code) => {
    expect(problemHeaders(errorOf(code))['retry-after']).toBe('7')
  })

  it.each(CODES.filter((code) => TABLE[code][0] === 503 && code !== 'auth_offline'))(
    '%s says when to come again',
    (code) => {
      expect(problemHeaders(errorOf(code))['retry-after']).toBe('60')
    },
  )

  it('auth_offline says when to come again, as every 503 does', () => {
    expect(problemHeaders(errorOf('auth_offline'))['retry-after']).toMatch(/^[1-9][0-9]*$/)
  })

  it('names the scope that lacks, the methods that are allowed and the size of the file', () => {
    expect(problemHeaders(errorOf('insufficient_scope'))['www-authenticate']).toBe(
      'Bearer error="insufficient_scope", scope="put"',
    )
    expect(problemHeaders(errorOf('method_not_allowed')).allow).toBe('GET, HEAD')
    expect(problemHeaders(errorOf('range_not_satisfiable'))['content-range']).toBe('bytes */10')
  })

  it('says when to come again for an unreachable prover, and not for one that refused', () => {
    const unreachable = new LadeError('stage_failed', { reason: 'x', retryAfterSeconds: 9 })
    expect(problemHeaders(unreachable)['retry-after']).toBe('9')
    expect(problemHeaders(errorOf('stage_failed'))).not.toHaveProperty('retry-after')
  })
})

describe('problemMediaType', () => {
  it.each([
    [undefined, 'application/json'],
    ['*/*', 'application/json'],
    ['application/json', 'application/json'],
    ['application/problem+json', 'application/problem+json'],
    ['text/html, application/problem+json;q=0.9', 'application/problem+json'],
  ])('for Accept: %s is %s', (accept, type) => expect(problemMediaType(accept)).toBe(type))
})

describe('asLadeError', () => {
  it('leaves a LadeError as it is, and hides anything else behind internal_error', () => {
    const known = errorOf('gone')
    const unknown = new Error('secret')
    expect(asLadeError(known)).toBe(known)
    expect(asLadeError(unknown)).toMatchObject({ code: 'internal_error', cause: unknown, evidence: {} })
    expect(asLadeError(undefined)).toMatchObject({ code: 'internal_error' })
  })
})
