import type { TransactionCounts } from '../../database-state.ts'

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
