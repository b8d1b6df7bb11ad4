/** How a database under the records fares, as one process that uses it sees it. */
export interface DatabaseState {
  readonly transactions: TransactionCounts
  /** Whether writes of different principals follow each other at this time, since they undid each other. */
  readonly isContended: boolean
  /** Queues that have something to write. */
  readonly queues: number
  readonly writers: PoolState
  readonly readers: PoolState
}

/** What became of transactions since the records were opened. */
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

/** The connections of a pool at one moment. */
export interface PoolState {
  /** Connections that are open or being opened, and those of them that nobody uses. */
  readonly open: number
  readonly idle: number
  /** How many wait for one. */
  readonly waiting: number
}
