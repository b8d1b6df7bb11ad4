import { ERROR_SENTENCES, type ErrorCode, LadeError } from '@lade/core/errors'
import type { Problem } from '@lade/core/wire'

/** How HTTP answers each code. A new code does not compile until it stands here. */
export const STATUS = {
  bad_request: 400,
  headers_too_large: 431,
  body_timeout: 408,
  request_timeout: 408,
  expectation_failed: 417,
  misdirected_request: 421,
  length_required: 411,
  invalid_cid: 400,
  no_body: 400,
  empty_body: 400,
  invalid_content_type: 400,
  unsupported_encoding: 415,
  unsupported_media_type: 415,
  invalid_filename: 400,
  invalid_term: 400,
  invalid_visibility: 400,
  invalid_json: 400,
  invalid_email: 400,
  invalid_label: 400,
  invalid_scopes: 400,
  invalid_jti: 400,
  invalid_cursor: 400,
  idempotency_key_reused: 422,
  not_found: 404,
  method_not_allowed: 405,
  internal_error: 500,
  no_token: 401,
  invalid_token: 401,
  revoked_token: 401,
  insufficient_scope: 403,
  unverified_account: 403,
  invalid_session: 401,
  admin_refused: 403,
  signup_closed: 403,
  foreign_origin: 403,
  caller_blocked: 403,
  email_code_required: 403,
  invalid_challenge: 403,
  invalid_code: 403,
  mail_failed: 503,
  auth_offline: 503,
  invalid_signature: 401,
  replayed_signature: 401,
  digest_mismatch: 400,
  invalid_nonce: 401,
  chain_offline: 503,
  too_large: 413,
  rate_limited: 429,
  quota_exceeded: 429,
  too_many_uploads: 429,
  over_budget: 429,
  insufficient_storage: 507,
  storage_offline: 503,
  storage_failed: 503,
  read_only: 503,
  shutting_down: 503,
  incomplete_body: 400,
  cid_mismatch: 422,
  cid_conflict: 409,
  invalid_car: 400,
  incomplete_dag: 422,
  offset_mismatch: 409,
  upload_in_use: 423,
  not_appendable: 403,
  checksum_mismatch: 460,
  unsupported_tus_version: 412,
  lease_lost: 503,
  stage_failed: 502,
  invalid_parts: 400,
  missing_parts: 422,
  foreign_parts: 403,
  missing_entries: 422,
  private_entries: 409,
  not_enough_provers: 409,
  deal_ended: 409,
  not_placed: 409,
  prove_failed: 502,
  gone: 410,
  blocked: 451,
  not_acceptable: 406,
  not_implemented: 501,
  invalid_redirects: 500,
  only_if_cached: 412,
  range_not_satisfiable: 416,
  precondition_failed: 412,
  invalid_share_link: 403,
  unreachable: 502,
  unexpected_answer: 502,
  source_changed: 409,
} as const satisfies Record<ErrorCode, number>

/** The codes that HTTP answers with this status. */
export function codesOf(status: number): readonly string[] {
  return Object.entries(STATUS).flatMap(([code, answered]) => (answered === status ? [code] : []))
}

/** When to come again after a 503 that does not know better. */
const RETRY_AFTER_SECONDS = 60

/** The error to answer with: a LadeError as it is, anything else as `internal_error` with its cause kept for the log. */
export function asLadeError(error: unknown): LadeError {
  return LadeError.is(error) ? error : new LadeError('internal_error', {}, { cause: error })
}

/** Where the code is explained: a page of this service. */
function problemType(code: ErrorCode): string {
  return `/docs/errors#${code}`
}

/** The body of an error response (RFC 9457, with `error` for the clients of this API). */
export function problemBody(error: LadeError, requestId: string): Problem {
  return {
    error: error.code,
    detail: error.message,
    type: problemType(error.code),
    title: ERROR_SENTENCES[error.code],
    status: STATUS[error.code],
    requestId,
    ...error.evidence,
  }
}

/** The same for a resumable upload of the IETF, whose draft has a problem type of its own for this. */
export function resumableProblem(error: LadeError, body: Problem): Problem {
  if (!LadeError.has(error, 'offset_mismatch')) return body
  const { expectedOffset, providedOffset } = error.evidence
  const type = 'https://iana.org/assignments/http-problem-types#mismatching-upload-offset'
  return { ...body, type, 'expected-offset': expectedOffset, 'provided-offset': providedOffset }
}

/** The headers that belong to an error, besides those of its body. */
export function problemHeaders(error: LadeError): Record<string, string> {
  const headers: Record<string, string> = { 'cache-control': 'no-store' }
  const status = STATUS[error.code]
  if (status === 401) {
    const isOfToken = error.code === 'invalid_token' || error.code === 'revoked_token'
    headers['www-authenticate'] = isOfToken ? 'Bearer error="invalid_token"' : 'Bearer'
  }
  if (LadeError.has(error, 'insufficient_scope')) {
    headers['www-authenticate'] = `Bearer error="insufficient_scope", scope="${error.evidence.required}"`
  }
  if (LadeError.has(error, 'unsupported_tus_version')) headers['tus-version'] = error.evidence.supported
  if (LadeError.has(error, 'method_not_allowed')) headers.allow = error.evidence.allow.join(', ')
  if (LadeError.has(error, 'range_not_satisfiable')) headers['content-range'] = `bytes */${error.evidence.size}`
  if ('retryAfterSeconds' in error.evidence && error.evidence.retryAfterSeconds !== undefined) {
    headers['retry-after'] = String(error.evidence.retryAfterSeconds)
  } else if (status === 503) headers['retry-after'] = String(RETRY_AFTER_SECONDS)
  return headers
}

/** The media type of an error body: what `Accept` asks for, plain JSON otherwise. */
export function problemMediaType(accept: string | undefined): string {
  return accept?.includes('application/problem+json') ? 'application/problem+json' : 'application/json'
}
