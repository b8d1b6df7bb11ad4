/** What a prover is asked to hold. */
export interface StageRequest {
  /** The same for every attempt of the same caller with the same bytes, so that a prover can recognise a repetition. */
  readonly idempotencyKey: string
  /** Null for bytes that were put together from parts and never read as a whole. */
  readonly sha256: string | null
  readonly sizeBytes: number
  /** Piece CID v2, in base32. */
  readonly pieceCid: string
}

export interface Staged {
  /** The deal id that the caller is given. Synthetic ids are `d-0x` and 32 hex digits. */
  readonly dealId: string
}

/**
 * Whoever stores and proves pieces for the network.
 *
 * `stage` resolves once the prover has taken the object. Every driver passes `describeProver`.
 */
export interface Prover {
  /** Shown in logs and in the readiness report, such as `local`. */
  readonly name: string
  /** True when staging costs nothing outside this process, so that it may be done before the quota has decided. */
  readonly isInstant: boolean
  /** @throws {LadeError} `stage_failed` when the prover refuses or cannot be reached. */
  stage(request: StageRequest): Promise<Staged>
  /** Resolves when the prover can be reached. @throws {LadeError} `stage_failed`. */
  check(): Promise<void>
  close(): Promise<void>
}
