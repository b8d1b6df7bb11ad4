/** What became of transactions since the store was opened. */
export interface TransactionCounts {
  /** Those that were made. */
  readonly committed: number
  /** Attempts that were undone because of another transaction: SQLSTATE 40001. */
  readonly conflicts: number
  /** Attempts that were undone because two waited for each other: 40P01. */
  readonly deadlocks: number
  /** Attempts that waited too long for a lock: 55P03. */
  readonly lockTimeouts: number
  /** Attempts that met something which another transaction had just inserted: 23505. */
  readonly races: number
  /** Attempts whose connection broke, or that got none. */
  readonly lost: number
  /** COMMITs whose answer was lost, and that were found to have been made. */
  readonly foundCommitted: number
  /** COMMITs whose answer was lost, and of which nobody found out what became. */
  readonly unknown: number
}

export type MutableCounts = { -readonly [Name in keyof TransactionCounts]: number }

export function noCounts(): MutableCounts {
  return {
    committed: 0,
    conflicts: 0,
    deadlocks: 0,
    lockTimeouts: 0,
    races: 0,
    lost: 0,
    foundCommitted: 0,
    unknown: 0,
  }
}
