import type { Logger } from 'pino'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { Prover } from '../proving/prover.ts'
import type { RecordStore } from '../records/record-store.ts'
import type { Outages } from './outages.ts'
import type { PlacementCounters } from './placement-counters.ts'
import type { PlacementSchedule } from './placement-schedule.ts'

/** What the steps of placing work with. */
export interface PlacementContext {
  readonly records: RecordStore
  readonly blobs: BlobStore
  /** Those that are configured, each once. */
  readonly provers: readonly Prover[]
  readonly now: () => number
  readonly log: Logger
  /** Cryptographically random: challenges must not be foreseen. */
  readonly randomBytes: (sizeBytes: number) => Uint8Array
  /** Where a prover that fetches pieces finds one; ends in `/piece/{pieceCid}`. */
  readonly sourceUrl: (pieceCid: string) => string
  /** How many copies a file gets unless somebody wants another number for it. */
  readonly copies: number
  /** How many provers that announce blocks get the CAR of a public file, beside the copies of the file; 0 for none. */
  readonly ipfsCopies: number
  /** Smaller files wait for an aggregate, where there is a prover of the network. */
  readonly aggregateBelowBytes: number
  /** Padded size; rounded down to a power of two. */
  readonly aggregateTargetBytes: number
  /** How long a file waits at most for others that fill an aggregate. */
  readonly aggregateSeconds: number
  /** From one audit of a copy to the next, give or take a tenth. */
  readonly auditSeconds: number
  readonly schedule: PlacementSchedule
  /** Aborts when this process stops or somebody else has the lease. */
  readonly signal: AbortSignal
  readonly outages: Outages
  readonly counters: PlacementCounters
}

/** Provers other than this process. */
export function networkOf({ provers }: Pick<PlacementContext, 'provers'>): readonly Prover[] {
  return provers.filter(({ isLocal }) => !isLocal)
}

export function proverNamed({ provers }: Pick<PlacementContext, 'provers'>, name: string): Prover | undefined {
  return provers.find((prover) => prover.name === name)
}
