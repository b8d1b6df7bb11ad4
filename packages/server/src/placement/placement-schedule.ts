/** How long things take, and how long they are waited for. */
export interface PlacementSchedule {
  /** The wait after the first failure; doubled from one to the next. @default 5000 */
  readonly firstRetryMs: number
  /** @default 600_000 */
  readonly maxRetryMs: number
  /** The longest that a prover may ask to be left alone. @default 3_600_000 */
  readonly maxRetryAfterMs: number
  /** Failures after which a prover is given up for a copy, where there is another one. @default 12, about an hour */
  readonly attempts: number
  /** Rejected additions after which a copy fails. @default 3 */
  readonly rejections: number
  /**
   * How long a prover is trusted to keep a piece that no data set has. After that, it gets the piece again before the addition: Curio drops
   * such pieces after two hours. @default 3_600_000
   */
  readonly unclaimedMs: number
  /** From one question about an addition that is under way to the next. @default 1000 */
  readonly followMs: number
  /** The waits before the audits that follow one without an answer; after the last one the copy fails. @default 30 s, 2 min, 10 min */
  readonly auditRetryMs: readonly number[]
  /** A proof that comes later is none. @default 60_000 */
  readonly proofDeadlineMs: number
  /** For every other short answer. @default 120_000 */
  readonly callDeadlineMs: number
  /** The slowest that a prover may take a piece's bytes, beside ten minutes. @default 262_144 */
  readonly parkBytesPerSecond: number
  /** When a prover that was asked to remove a piece is asked whether it has: it may take a day of its chain. @default 2 days */
  readonly removalCheckMs: number
  /** How long a prover is not asked again for a piece that it failed; doubled with every failure, up to a day. @default 300_000 */
  readonly coolDownMs: number
  /** When a piece that finds no prover is looked at again; doubled with every failure, up to an hour. @default 60_000 */
  readonly reconcileAgainMs: number
}

export const DEFAULT_SCHEDULE: PlacementSchedule = {
  firstRetryMs: 5000,
  maxRetryMs: 600_000,
  maxRetryAfterMs: 3_600_000,
  attempts: 12,
  rejections: 3,
  unclaimedMs: 3_600_000,
  followMs: 1000,
  auditRetryMs: [30_000, 120_000, 600_000],
  proofDeadlineMs: 60_000,
  callDeadlineMs: 120_000,
  parkBytesPerSecond: 262_144,
  removalCheckMs: 172_800_000,
  coolDownMs: 300_000,
  reconcileAgainMs: 60_000,
}

/** `firstMs`, doubled with every failure before this one, and at most `maxMs`. */
export function doubledMs(firstMs: number, failuresBefore: number, maxMs: number): number {
  return Math.min(maxMs, firstMs * 2 ** Math.min(failuresBefore, 40))
}
