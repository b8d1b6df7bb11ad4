/**
 * The evidence of each error, by its stable code. Codes are API: new ones are added, existing ones never renamed.
 *
 * Evidence is sent to the caller as fields of the error body: no secrets, no paths of the host.
 */
export interface ErrorEvidence {
  // The request itself
  bad_request: { reason: string }
  headers_too_large: { limitBytes: number }
  body_timeout: { receivedBytes: number }
  request_timeout: Record<never, never>
  expectation_failed: { expect: string }
  misdirected_request: { host: string }
  length_required: Record<never, never>
  invalid_cid: { reason: string }
  no_body: Record<never, never>
  empty_body: Record<never, never>
  invalid_content_type: { reason: string }
  unsupported_encoding: { encoding: string; reason: string }
  unsupported_media_type: { contentType: string; reason: string }
  invalid_filename: { reason: string }
  invalid_term: { reason: string }
  invalid_visibility: { reason: string }
  invalid_json: { reason: string }
  invalid_email: { reason: string }
  invalid_label: { reason: string }
  invalid_scopes: { reason: string }
  invalid_jti: { reason: string }
  invalid_cursor: Record<never, never>
  idempotency_key_reused: Record<never, never>
  not_found: { reason?: string }
  method_not_allowed: { allow: readonly string[] }
  internal_error: Record<never, never>
  // Credentials
  no_token: Record<never, never>
  invalid_token: Record<never, never>
  revoked_token: { jti: string }
  insufficient_scope: { required: string }
  unverified_account: { setting: string }
  signup_closed: Record<never, never>
  foreign_origin: { origin: string }
  email_code_required: Record<never, never>
  invalid_challenge: Record<never, never>
  invalid_code: { attemptsLeft: number }
  mail_failed: { retryAfterSeconds: number }
  auth_offline: Record<never, never>
  invalid_signature: { reason: string }
  replayed_signature: Record<never, never>
  digest_mismatch: { expected: string; actual: string }
  invalid_nonce: Record<never, never>
  chain_offline: { retryAfterSeconds: number }
  // Admission
  too_large: { limit: number; size: number }
  rate_limited: LimitEvidence
  quota_exceeded: LimitEvidence
  too_many_uploads: { used: number; limit: number; retryAfterSeconds: number }
  over_budget: {
    /** What kind of work it is about. */
    work: string
    unit: 'milliseconds' | 'requests' | 'bytes'
    used: number
    limit: number
    retryAfterSeconds: number
  }
  insufficient_storage: { retryAfterSeconds: number }
  storage_offline: { retryAfterSeconds: number }
  storage_failed: { retryAfterSeconds: number; reason?: string }
  read_only: { retryAfterSeconds: number }
  shutting_down: { retryAfterSeconds: number }
  // The door
  incomplete_body: { expectedBytes: number; receivedBytes: number }
  cid_mismatch: { expected: string; actual: string }
  cid_conflict: { cid: string; actual: string }
  invalid_car: { reason: string }
  incomplete_dag: { root: string; missing: readonly string[] }
  lease_lost: { retryAfterSeconds: number }
  stage_failed: { reason: string; retryAfterSeconds?: number }
  // Composing
  invalid_parts: { reason: string }
  missing_parts: { missing: readonly string[]; count: number }
  foreign_parts: { parts: readonly string[]; count: number }
  // Deals
  not_enough_provers: { asked: number; available: number }
  deal_ended: { dealStatus: string }
  not_placed: { dealStatus: string }
  prove_failed: { reason: string; retryAfterSeconds: number }
  // Retrieval
  gone: { reason: 'expired' | 'removed' | 'composed' }
  range_not_satisfiable: { size: number }
  precondition_failed: { etag: string }
  not_acceptable: { reason: string }
  only_if_cached: Record<never, never>
  invalid_share_link: Record<never, never>
  // What a client finds by itself; no service answers with these
  unreachable: { url: string; reason: string }
  unexpected_answer: { httpStatus: number; reason: string }
  source_changed: { reason: string }
}

/** A limit that is reached. */
export interface LimitEvidence {
  used: number
  limit: number
  retryAfterSeconds: number
  /** What a daily quota counts; absent for other limits, and in answers of older services, whose quotas count bytes. */
  unit?: 'bytes' | 'files'
  /** The /48 whose addresses have reached the limit together; absent for the caller's own limit. */
  network?: string
  /** The bytes that the caller itself has used today, where `used` says something else. */
  usedBytes?: number
  reason?: string
}

export type ErrorCode = keyof ErrorEvidence

/** One sentence for each code: what happened, before any detail. */
export const ERROR_SENTENCES = {
  bad_request: 'The request is malformed.',
  headers_too_large: 'The request headers are too large.',
  body_timeout: 'The body arrived too slowly, so the upload was cancelled.',
  request_timeout: 'The request headers did not arrive in time.',
  expectation_failed: 'The Expect header supports only 100-continue.',
  misdirected_request:
    'This host name is not allowed. The service listens on a loopback address; add the host to LADE_PUBLIC_URL or LADE_TRUSTED_HOSTS.',
  length_required: 'Content-Length must be set; Transfer-Encoding is not supported.',
  invalid_cid: 'The cid is missing or malformed.',
  no_body: 'The request has no body.',
  empty_body: 'The body has zero bytes.',
  invalid_content_type: 'Content-Type is missing or malformed.',
  unsupported_encoding: 'This Content-Encoding is not supported.',
  unsupported_media_type: 'This media type is not supported.',
  invalid_filename: 'The file name contains forbidden characters.',
  invalid_term: 'The requested term is not allowed.',
  invalid_visibility: 'X-Visibility must be public or private; private needs a token.',
  invalid_json: 'The body is not the JSON that this endpoint expects.',
  invalid_email: 'The email address is missing or malformed.',
  invalid_label: 'The label is missing or malformed.',
  invalid_scopes: 'The scopes must be a subset of put, get, list and pin.',
  invalid_jti: 'The jti is missing or malformed.',
  invalid_cursor: 'The cursor is not a nextCursor of yours. Start again without a cursor.',
  idempotency_key_reused: 'This Idempotency-Key was used for another request. Send a new key.',
  not_found: 'Not found.',
  method_not_allowed: 'This path does not support that method.',
  internal_error: 'Internal error. Search the server log for the request id.',
  no_token: 'This request needs a bearer token.',
  invalid_token: 'The token is invalid or expired.',
  revoked_token: 'The token has been revoked.',
  insufficient_scope: 'The token lacks the required scope.',
  unverified_account:
    'Private files need a verified account: with LADE_SIGNUP=open, anyone can claim this email address. Use a wallet, or ask the operator for LADE_SIGNUP=email or closed.',
  signup_closed: 'Signup is closed. Ask the operator for a token.',
  foreign_origin: 'Signup from other websites is not allowed.',
  email_code_required: 'Signup needs a login code. POST /api/auth/start mails one to this address.',
  invalid_challenge: 'The login attempt is unknown, finished or expired. Request a new code.',
  invalid_code: 'The login code is wrong.',
  mail_failed: 'The mail could not be sent.',
  auth_offline: 'The signing key is unavailable, so tokens cannot be issued or checked.',
  invalid_signature: 'The wallet signature is not valid for this request.',
  replayed_signature: 'This signature was already used. Sign the request again.',
  digest_mismatch: 'The received bytes do not match the digest in the request headers. Nothing was stored.',
  invalid_nonce: 'The nonce is unknown, used or expired. Request a new one.',
  chain_offline: 'The chain does not respond, so wallets and their quotas cannot be checked.',
  too_large: 'The file is too large for this tier or this kind of id.',
  rate_limited: 'This address has reached its rate limit.',
  quota_exceeded: 'The daily quota is used up.',
  too_many_uploads: 'Too many uploads are in progress for this caller.',
  over_budget: 'This caller has used up its share of processing time, requests or bandwidth.',
  insufficient_storage: 'There is not enough free disk space for this file.',
  storage_offline: 'No storage backend is configured.',
  storage_failed: 'The storage backend failed.',
  read_only: 'The service is read-only: it cannot write its data. Nothing was changed.',
  shutting_down: 'The service is shutting down.',
  incomplete_body: 'The body ended before its declared length. Nothing was stored.',
  cid_mismatch: 'The received bytes do not match the cid. Nothing was stored.',
  cid_conflict: 'This cid already belongs to other bytes.',
  invalid_car: 'The CAR is invalid or unsupported. Nothing was stored.',
  incomplete_dag: 'The CAR is missing blocks of the DAG under its root. Nothing was stored.',
  lease_lost: 'The upload stalled and its reservation expired. Send it again.',
  stage_failed: 'No prover accepted the file. Nothing was stored or charged.',
  invalid_parts: 'These parts cannot be composed into a file. Nothing was changed.',
  missing_parts:
    'Some parts are not live files of yours, or their bytes are missing. Upload them again. Nothing was changed.',
  foreign_parts: 'Some parts belong to another user. Nothing was changed.',
  not_enough_provers: 'There are not enough provers for that number of copies.',
  deal_ended: 'The deal has ended.',
  not_placed: 'No prover stores this file yet.',
  prove_failed: 'No prover could prove that it stores this file.',
  gone: 'The file is no longer stored.',
  not_acceptable: 'The requested format is not available.',
  only_if_cached: 'The request accepts only cached content, and this content is not stored here.',
  range_not_satisfiable: 'The requested range is outside the file.',
  precondition_failed: 'The stored file does not meet the condition in If-Match or If-Unmodified-Since.',
  invalid_share_link: 'The share link is malformed or has expired.',
  unreachable: 'The service cannot be reached.',
  unexpected_answer: 'The service sent an unexpected response.',
  source_changed: 'The file changed during the upload.',
} as const satisfies Record<ErrorCode, string>

const brand = Symbol.for('@lade/error')

export interface LadeErrorOptions extends ErrorOptions {
  /** The id of the request that the service answered with this error. */
  readonly requestId?: string | undefined
}

/**
 * The one error that Lade raises on purpose.
 *
 * Everything a boundary needs to answer is in `code` and `evidence`; `detail` is a sentence for people, composed of
 * the code's sentence and, where the evidence has one, its reason. Misuse by a programmer is a `TypeError` instead.
 *
 * @example
 * const error = new LadeError('cid_mismatch', { expected: 'aa…', actual: 'bb…' })
 * error.code // 'cid_mismatch'
 */
export class LadeError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'LadeError'
  readonly [brand] = true
  readonly code: Code
  readonly evidence: ErrorEvidence[Code]
  /** Finds the request in the service's log; undefined for an error that no service answered. */
  readonly requestId: string | undefined

  constructor(code: Code, evidence: ErrorEvidence[Code], options?: LadeErrorOptions) {
    super(
      'reason' in evidence && code !== 'gone' ? `${ERROR_SENTENCES[code]} ${evidence.reason}` : ERROR_SENTENCES[code],
      options,
    )
    this.code = code
    this.evidence = evidence
    this.requestId = options?.requestId
  }

  /** True for a LadeError, also for one made by another copy of this package. */
  static is(value: unknown): value is LadeError {
    return typeof value === 'object' && value !== null && brand in value
  }

  /** True for a LadeError of exactly this code, with its evidence typed. */
  static has<Code extends ErrorCode>(value: unknown, code: Code): value is LadeError<Code> {
    return LadeError.is(value) && value.code === code
  }
}
