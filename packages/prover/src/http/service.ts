import type { Registry } from 'prom-client'
import type { DealMetrics } from '../chain/deal-metrics.ts'
import type { DataSets } from '../data-sets/data-sets.ts'
import type { ProverFaults } from '../faults.ts'
import type { HeldPiece, PieceStore } from '../pieces/piece-store.ts'
import type { AllowedHosts } from '../pull/allowed-hosts.ts'
import type { Pulls } from '../pull/pulls.ts'
import type { Notify } from '../uploads/notify.ts'
import type { UploadSessions } from '../uploads/upload-sessions.ts'

/** Sizes and times that the prover enforces. */
export interface ProverLimits {
  readonly minPieceBytes: number
  readonly maxPieceBytes: number
  readonly bodyIdleMs: number
  /** A piece is found, and can be added to a data set, this long after it was stored. */
  readonly findDelayMs: number
}

/** What routes work with. */
export interface ProverService {
  readonly store: PieceStore
  readonly uploads: UploadSessions
  readonly dataSets: DataSets
  readonly pulls: Pulls
  readonly limits: ProverLimits
  readonly allowedHosts: AllowedHosts
  readonly faults: ProverFaults
  readonly now: () => number
  /** Tells a caller once that a piece came; whether it hears of it is not known. */
  readonly notify: Notify
  /** Aborted when the prover ends. */
  readonly closing: AbortSignal
  readonly registry: Registry
  /** Undefined without a chain. */
  readonly deals: DealMetrics | undefined
}

/** A piece that is held and that Curio's background task would have come by. Looking for it keeps it no longer. */
export function findPiece({ store, limits, now }: ProverService, pieceCid: string): HeldPiece | undefined {
  const piece = store.get(pieceCid)
  return piece !== undefined && piece.storedAt + limits.findDelayMs <= now() ? piece : undefined
}
