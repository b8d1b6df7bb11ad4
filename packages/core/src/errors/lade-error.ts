import { detailOf } from './error-detail.ts'
import type { ErrorCode, ErrorEvidence } from './error-evidence.ts'

export { bytesText, comparedBytes, countText, waitText } from './amounts-text.ts'
export { choiceText } from './choice-text.ts'
export type { ErrorCode, ErrorEvidence } from './error-evidence.ts'

/** One sentence for each code, the same for every request: the title. What is special to a request is its detail. */
export const ERROR_SENTENCES = {
  bad_request: 'The request is malformed.',
  headers_too_large: 'The request headers are too large.',
  body_timeout: 'The body arrived too slowly, so the upload was cancelled.',
  request_timeout: 'The request headers did not arrive in time.',
  expectation_failed: 'The Expect header supports only 100-continue.',
  misdirected_request: 'This host name is not allowed.',
  length_required: 'Content-Length is required.',
  invalid_cid: 'The cid is missing or malformed.',
  no_body: 'The request has no body.',
  empty_body: 'The body has zero bytes.',
  invalid_content_type: 'Content-Type is missing or malformed.',
  unsupported_encoding: 'This Content-Encoding is not supported.',
  unsupported_media_type: 'This media type is not supported.',
  invalid_filename: 'The file name is not allowed.',
  invalid_term: 'The requested term is not allowed.',
  invalid_visibility: 'The visibility is not allowed.',
  invalid_json: 'The body is not valid JSON.',
  invalid_email: 'The email address is missing or malformed.',
  invalid_label: 'The label is missing or malformed.',
  invalid_scopes: 'The scopes are not allowed.',
  invalid_jti: 'The jti is missing or malformed.',
  invalid_cursor: 'The cursor is not valid.',
  idempotency_key_reused: 'This Idempotency-Key was used for another request.',
  not_found: 'Not found.',
  method_not_allowed: 'This path does not support that method.',
  internal_error: 'Internal error.',
  no_token: 'This request needs a bearer token.',
  invalid_token: 'The token is invalid or expired.',
  revoked_token: 'The token has been revoked.',
  insufficient_scope: 'The token lacks the required scope.',
  unverified_account: 'Private files need a verified account.',
  invalid_session: 'The session has ended.',
  admin_refused: 'Tokens with the scope admin are refused while anyone can sign up.',
  signup_closed: 'Signup is closed.',
  foreign_origin: 'Requests from other websites are not allowed here.',
  caller_blocked: 'The operator blocked this caller.',
  email_code_required: 'Signup needs a login code.',
  invalid_challenge: 'The login attempt is unknown, finished or expired.',
  invalid_code: 'The login code is wrong.',
  mail_failed: 'The mail could not be sent.',
  auth_offline: 'The signing key is unavailable.',
  invalid_signature: 'The wallet signature is not valid for this request.',
  replayed_signature: 'This signature was already used.',
  digest_mismatch: 'The received bytes do not match the digest in the request headers.',
  invalid_nonce: 'The nonce is unknown, used or expired.',
  chain_offline: 'The chain does not respond.',
  too_large: 'The file is too large for this tier or this kind of id.',
  rate_limited: 'This address has reached its rate limit.',
  quota_exceeded: 'A quota is used up.',
  too_many_uploads: 'Too many uploads are in progress for this caller.',
  over_budget: 'The limit on processing time, requests or memory is reached.',
  insufficient_storage: 'There is not enough free disk space for this file.',
  storage_offline: 'No storage backend is configured.',
  storage_failed: 'The storage backend failed.',
  read_only: 'The service is read-only.',
  shutting_down: 'The service is shutting down.',
  incomplete_body: 'The body is incomplete.',
  cid_mismatch: 'The received bytes do not match the cid.',
  cid_conflict: 'This cid already belongs to other bytes.',
  invalid_car: 'The CAR is invalid or unsupported.',
  incomplete_dag: 'The CAR is missing blocks of the DAG under its root.',
  offset_mismatch: 'The offset is not where this upload continues.',
  upload_in_use: 'Another request is writing to this upload.',
  not_appendable: 'Nothing can be added to this upload.',
  checksum_mismatch: 'The received bytes do not match their checksum.',
  unsupported_tus_version: 'This version of tus is not supported.',
  lease_lost: 'The upload stalled and its reservation expired.',
  stage_failed: 'No prover accepted the file.',
  invalid_parts: 'These parts cannot be composed into a file.',
  missing_parts: 'Some parts are not stored here, have expired, or are damaged.',
  foreign_parts: 'Some parts are stored here only as public files of another user.',
  missing_entries: 'Some files of the directory are not stored here.',
  private_entries: 'A public folder cannot contain private files.',
  not_enough_provers: 'There are not enough provers for that number of copies.',
  deal_ended: 'The deal has ended.',
  not_placed: 'No prover stores this file yet.',
  prove_failed: 'No prover could prove that it stores this file.',
  gone: 'The file is no longer stored.',
  blocked: 'The operator blocked this content.',
  not_acceptable: 'The requested format is not available.',
  not_implemented: 'This service cannot do that.',
  invalid_redirects: 'The _redirects file of this site cannot be used.',
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
  /** The message, as the service wrote it. @default composed of the evidence */
  readonly detail?: string | undefined
}

/**
 * The one error that Lade raises on purpose.
 *
 * `code` and `evidence` have everything that a response or an exit code is made of. The message is what a person needs: what is wrong with this request, and
 * what to do next. Misuse by a programmer is a `TypeError` instead.
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
    super(options?.detail ?? detailOf(code, evidence), options)
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
