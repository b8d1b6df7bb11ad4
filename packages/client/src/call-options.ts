/** What every call can be given. */
export interface CallOptions {
  /** Ends the call: it rejects with the signal's reason, and leaves nothing behind on this side. */
  readonly signal?: AbortSignal | undefined
}
