/** How long things may take, in milliseconds. */
export interface Timeouts {
  /** For how long a write is tried again, and from when its COMMIT was lost once more. @default 12000 */
  readonly writeMs: number
  /** For how long a read is tried again. @default 10000 */
  readonly readMs: number
  /** How long a connection may take to come about, and to be waited for. @default 5000 */
  readonly connectMs: number
  /** How long one lock is waited for. @default 5000 */
  readonly lockMs: number
  /**
   * What the server lets one statement of a write take. Longer than `writeSilenceMs`, so that nobody is told of a COMMIT that the
   * server gave up to wait for. @default 15000
   */
  readonly writeStatementMs: number
  /** After which the answer to a write is given up: the network lost it. @default 10000 */
  readonly writeSilenceMs: number
  /** @default 20000 */
  readonly readStatementMs: number
  /** After which an answer is given up that the server should have refused by then. @default 25000 */
  readonly readSilenceMs: number
  /** After which the server ends a transaction that nobody goes on with. @default 10000 */
  readonly idleInTransactionMs: number
}

export const TIMEOUTS: Timeouts = {
  writeMs: 12_000,
  readMs: 10_000,
  connectMs: 5000,
  lockMs: 5000,
  writeStatementMs: 15_000,
  writeSilenceMs: 10_000,
  readStatementMs: 20_000,
  readSilenceMs: 25_000,
  idleInTransactionMs: 10_000,
}
