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
  method_not_allowed: { allow: readonly string[]; method?: string; hint?: string }
  internal_error: Record<never, never>
  // Credentials
  no_token: { reason?: string }
  invalid_token: { reason?: string }
  revoked_token: { jti: string }
  /** `scopes`: what the token has. */
  insufficient_scope: { required: string; scopes?: readonly string[] }
  unverified_account: { setting: string }
  invalid_session: Record<never, never>
  admin_refused: { setting: string }
  signup_closed: Record<never, never>
  /** `origin`: of the page; empty where the request names none. */
  foreign_origin: { origin: string }
  caller_blocked: { caller: 'user' | 'wallet' | 'network'; reason: string }
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
  too_large: { limit: number; size: number; reason?: string }
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
  /** `expectedBytes`: what the request declared; absent where it declared no length. */
  incomplete_body: { expectedBytes?: number; receivedBytes: number }
  /** `received`: what the bytes look like, where that explains the mismatch. */
  cid_mismatch: { expected: string; actual: string; received?: string }
  cid_conflict: { cid: string; actual: string }
  invalid_car: { reason: string }
  incomplete_dag: { root: string; missing: readonly string[] }
  lease_lost: { retryAfterSeconds: number }
  // Uploads in several requests
  offset_mismatch: { expectedOffset: number; providedOffset: number }
  upload_in_use: { retryAfterSeconds: number }
  not_appendable: { reason: string }
  /** Both in base64, as the header has them. */
  checksum_mismatch: { algorithm: string; expected: string; actual: string }
  unsupported_tus_version: { supported: string }
  stage_failed: { reason: string; retryAfterSeconds?: number }
  // Composing
  invalid_parts: { reason: string }
  missing_parts: { missing: readonly string[]; count: number }
  foreign_parts: { parts: readonly string[]; count: number }
  // Directories
  missing_entries: { missing: readonly string[]; count: number }
  private_entries: { entries: readonly string[]; count: number }
  // Deals
  not_enough_provers: { asked: number; available: number }
  deal_ended: { dealStatus: string }
  not_placed: { dealStatus: string; reason?: string }
  prove_failed: { reason: string; retryAfterSeconds: number }
  // Retrieval
  gone: { reason: 'expired' | 'removed' | 'composed' }
  /** `reason` and `blockedAt` for the owner of a file alone. */
  blocked: { reason?: string; blockedAt?: string }
  range_not_satisfiable: { size: number }
  precondition_failed: { etag: string }
  not_acceptable: { reason: string }
  not_implemented: { reason: string }
  invalid_redirects: { reason: string }
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
  /** Absent where waiting does not help: the file is larger than the limit itself. */
  retryAfterSeconds?: number
  /** What is left of the limit. */
  remaining?: number
  /** The bytes of the file. */
  size?: number
  /** What a daily quota counts; absent for other limits, and in answers of older services, whose quotas count bytes. */
  unit?: 'bytes' | 'files'
  /** The /48 whose addresses have reached the limit together; absent for the caller's own limit. */
  network?: string
  /** Of a quota: the day of the caller, of its token alone, of the IP address of a wallet over all wallets, or what it has stored. */
  which?: 'day' | 'token' | 'address' | 'stored'
  /** The bytes that the caller has used today, and how many it may use, where `used` and `limit` say something else. */
  usedBytes?: number
  limitBytes?: number
  reason?: string
}

export type ErrorCode = keyof ErrorEvidence
