/**
 * What each error proves, by its stable code. Codes are API: added freely, never renamed.
 *
 * Evidence travels to the caller as fields of the error body, so it holds facts only: no secrets, no paths of the host.
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
  invalid_filename: { reason: string }
  invalid_term: { reason: string }
  invalid_visibility: { reason: string }
  invalid_json: { reason: string }
  invalid_email: { reason: string }
  invalid_label: { reason: string }
  invalid_scopes: { reason: string }
  invalid_jti: { reason: string }
  not_found: Record<never, never>
  method_not_allowed: { allow: readonly string[] }
  internal_error: Record<never, never>
  // Credentials
  no_token: Record<never, never>
  invalid_token: Record<never, never>
  revoked_token: { jti: string }
  insufficient_scope: { required: string }
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

/** One plain sentence for each code; the answer to "what happened" before any detail. */
export const ERROR_SENTENCES = {
  bad_request: 'The request is not well formed.',
  headers_too_large: 'The request head is larger than this service reads.',
  body_timeout: 'The body arrived too slowly and the upload was ended.',
  request_timeout: 'The request head did not arrive in time.',
  expectation_failed: 'The only expectation this service meets is 100-continue.',
  misdirected_request:
    'This service does not answer for this host. It listens on a loopback address; LADE_PUBLIC_URL and LADE_TRUSTED_HOSTS name further hosts.',
  length_required: 'Content-Length must be set; Transfer-Encoding is not supported.',
  invalid_cid: 'The cid is missing or malformed.',
  no_body: 'The request has no body.',
  empty_body: 'The body has zero bytes.',
  invalid_content_type: 'Content-Type is missing or malformed.',
  invalid_filename: 'The file name is not one that can be given back safely.',
  invalid_term: 'The term asked for is outside what this tier allows.',
  invalid_visibility: 'X-Visibility is either public or private, and private needs a token.',
  invalid_json: 'The body is not the JSON that this endpoint reads.',
  invalid_email: 'The email address is missing or malformed.',
  invalid_label: 'The label is missing or malformed.',
  invalid_scopes: 'The scopes asked for are not a subset of put, get, list and pin.',
  invalid_jti: 'The jti is missing or malformed.',
  not_found: 'There is nothing here under this name.',
  method_not_allowed: 'This path does not answer that method.',
  internal_error: 'Something failed that should not have. The request id finds it in the log.',
  no_token: 'This needs a bearer token.',
  invalid_token: 'The token is invalid or expired.',
  revoked_token: 'The token has been revoked.',
  insufficient_scope: 'The token lacks the scope that this needs.',
  signup_closed: 'Signup is closed here; the operator issues tokens.',
  foreign_origin: 'Pages of other sites cannot sign up here.',
  email_code_required: 'A token for this address needs the code that POST /api/auth/start sends to it.',
  invalid_challenge: 'The challenge is unknown, answered already or expired; start again.',
  invalid_code: 'The code is not the one that was sent.',
  mail_failed: 'The mail could not be sent, and nothing was kept.',
  auth_offline: 'No signing key is available, so tokens cannot be issued or checked.',
  invalid_signature: 'The signature of the wallet does not hold for this request.',
  replayed_signature: 'This signature was used before.',
  digest_mismatch: 'The bytes received do not have the digest that was announced, and nothing was kept.',
  invalid_nonce: 'The nonce is unknown, used already or expired; ask for another.',
  chain_offline: 'The chain does not answer, so wallets and their quotas cannot be checked.',
  too_large: 'The file is larger than this tier, or an id of this kind, accepts.',
  rate_limited: 'The limit for this address is reached for now.',
  quota_exceeded: 'The daily quota is reached.',
  too_many_uploads: 'Too many uploads are in flight for this caller.',
  over_budget: 'This caller has used up its share of the service for now.',
  insufficient_storage: 'There is not enough free disk to take this file.',
  storage_offline: 'No storage backend is bound.',
  storage_failed: 'The storage backend failed.',
  read_only: 'The service can read its data but cannot write it, and nothing was changed.',
  shutting_down: 'The service is shutting down.',
  incomplete_body: 'The body ended before its declared length, and nothing was kept.',
  cid_mismatch: 'The bytes received do not hash to the cid announced, and nothing was kept.',
  cid_conflict: 'This cid is already bound to other bytes.',
  invalid_car: 'The body is not a CAR that can be taken, and nothing was kept.',
  incomplete_dag: 'The CAR lacks blocks of the DAG under its root, and nothing was kept.',
  lease_lost: 'The upload took so long between two signs of life that its reservation was returned.',
  stage_failed: 'The prover did not take the file, and nothing was kept or charged.',
  invalid_parts: 'These parts cannot make up a file, and nothing was changed.',
  missing_parts:
    'Some parts are not live files of yours, or their bytes are missing. Upload them again; nothing was changed.',
  foreign_parts: 'Some parts are files of somebody else, and nothing was changed.',
  not_enough_provers: 'There are not as many provers as copies were asked for.',
  deal_ended: 'The deal has ended.',
  not_placed: 'No prover holds this file yet.',
  prove_failed: 'No prover could prove that it holds this file.',
  gone: 'The file was here and is no longer.',
  not_acceptable: 'What is asked for is not a form that is given here.',
  only_if_cached: 'It is not here, and the request asks to look no further.',
  range_not_satisfiable: 'The requested range lies outside the file.',
  invalid_share_link: 'The share link is malformed or has expired.',
  unreachable: 'The service cannot be reached.',
  unexpected_answer: 'The answer is not one that this client understands.',
  source_changed: 'The file changed while it was being sent.',
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
