import type { FastifyBaseLogger } from 'fastify'
import type { ChainLimits } from './chain/chain-limits.ts'
import type { ChainSettings } from './chain/chain-settings.ts'
import type { ProverFaults } from './faults.ts'
import type { AllowedHosts } from './pull/allowed-hosts.ts'
import type { Resolve } from './pull/call-allowed.ts'

export interface ProverOptions extends AllowedHosts {
  /** Where pieces and data sets are kept; one process at a time. Created when it is missing. */
  readonly dir: string
  /** @default 127.0.0.1 */
  readonly host?: string
  /** @default 0, which asks for any free port */
  readonly port?: number
  /** A stored piece is found this much later, since Curio looks for new ones every so often. @default 5000 */
  readonly findDelayMs?: number
  /** A transaction is confirmed this much later. @default 5000 */
  readonly confirmDelayMs?: number
  /** @default 127 */
  readonly minPieceBytes?: number
  /** @default 1_065_353_216, which is 1 GiB with its padding */
  readonly maxPieceBytes?: number
  /** How long a piece without a data set is stored, in hours. @default 24 */
  readonly parkHours?: number
  /** How often such pieces, and uploads that were left alone, are looked for. @default 300_000 */
  readonly sweepMs?: number
  /** How long an uploaded body may stand still. @default 30_000 */
  readonly bodyIdleMs?: number
  /** How long requests have to end when the prover does. @default 10_000 */
  readonly drainMs?: number
  readonly pull?: {
    /** How long one attempt may take. @default 600_000 */
    readonly attemptMs?: number
    /** How long a source may stand still. @default 120_000 */
    readonly idleMs?: number
    /** How often a source is asked when it does not answer, or answers 429 or 5xx. @default 5 */
    readonly attempts?: number
    /** The wait before the second attempt, doubled from one to the next. @default 2000 */
    readonly retryDelayMs?: number
    /** @default the name server of the system */
    readonly resolve?: Resolve
  }
  /** The marketplaces whose deals are accepted and proved. @default none */
  readonly chain?: ChainOptions
  /** What goes wrong, for tests. @default nothing */
  readonly faults?: ProverFaults
  /** Milliseconds, as `Date.now`. @default Date.now */
  readonly now?: () => number
  /** @default nothing is logged */
  readonly log?: FastifyBaseLogger
}

export interface ChainOptions extends Omit<ChainSettings, 'limits'> {
  /** @default the defaults of the settings */
  readonly limits?: Partial<ChainLimits> | undefined
  /** How often a new block is looked for. @default 1000 */
  readonly pollMs?: number
  /** How long a transaction waits for its block before it offers more. @default 60_000 */
  readonly raiseAfterMs?: number
  /** So many periods' pay are settled at a time, and the rest at the end. @default 7 */
  readonly settledPeriods?: bigint | undefined
}
