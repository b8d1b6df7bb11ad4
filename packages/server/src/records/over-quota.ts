/**
 * The limit of a day that was in the way: of the principal's own, or, with `network`, of all principals of that network together, which
 * have `NETWORK_DAYS` times as much.
 */
export interface DayLimit {
  readonly unit: 'bytes' | 'files'
  /** Charged and reserved. */
  readonly used: number
  readonly limit: number
  readonly network?: string
}

/** A day that has no room for an upload. `usedBytes` is the principal's own, whichever limit it was. */
export interface OverQuota {
  readonly outcome: 'over_quota'
  readonly usedBytes: number
  readonly over: DayLimit
}
