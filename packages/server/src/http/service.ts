import type { WorkBudget } from '@lade/node/budget/work-budget'
import type { ContentHashers } from '@lade/node/hashing/content-hasher'
import type { Logger } from 'pino'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { Chain } from '../chain/chain.ts'
import type { Clock } from '../clock/keep-clock.ts'
import type { Config } from '../config/config.ts'
import type { RetrievalUrl } from '../files/file-entry.ts'
import type { Mailer } from '../mail/mailer.ts'
import type { Moderation } from '../moderation/moderation.ts'
import type { DealProposerState } from '../onchain-deals/deal-proposer.ts'
import type { OpenUploadsInHand } from '../open-uploads/open-uploads.ts'
import type { ProofRequest, ProvenFile } from '../placement/challenge.ts'
import type { PlacementCounts } from '../placement/placement-counters.ts'
import type { ProverStaging } from '../placement/stage-at-prover.ts'
import type { Prover } from '../proving/prover.ts'
import type { DatabaseState } from '../records/database-state.ts'
import type { RecordStore } from '../records/record-store.ts'
import type { BlockReadings } from '../retrieval/block-readings.ts'
import type { SessionKeeper } from '../sessions/session-keeper.ts'
import type { Authorizer } from '../tokens/authorize.ts'
import type { SigningKeys } from '../tokens/signing-keys.ts'
import type { Tracer } from '../tracing/tracing.ts'
import type { DamageControl } from '../upkeep/damage.ts'
import type { Scrub } from '../upkeep/scrub.ts'
import type { Reservations } from '../uploads/reservations.ts'
import type { StallWatch } from '../uploads/stall-watch.ts'
import type { WalletChains } from '../wallets/wallet-chains.ts'
import type { ClientAddress } from './client-address.ts'
import type { RefusalLog } from './refusal-log.ts'
import type { RequestOrigin } from './request-origin.ts'
import type { RequestsInHand } from './requests-in-hand.ts'
import type { UploadTurns } from './upload-turns.ts'

/** What the placing of files has come to, since the start of this process. */
export interface PlacedCounters extends PlacementCounts {
  /** Undefined without deals on a chain. */
  readonly pendingTransactions: number | undefined
  /** When the oldest of them was made; undefined without one. */
  readonly oldestPendingAt: number | undefined
  /** As of the last round of this process, with the budget of a day; undefined without deals on a chain. */
  readonly market:
    | (Pick<DealProposerState, 'waits' | 'escrow' | 'spentTodayMicroUsdc'> & {
        readonly budgetMicroUsdc: bigint | undefined
      })
    | undefined
}

/** Where the service says what became of the bytes that it keeps. */
export interface Integrity {
  readonly damage: Pick<DamageControl, 'counters'>
  readonly scrub: Pick<Scrub, 'scrubbedBytes' | 'lastFinishedAt' | 'orphans'>
  readonly records: Pick<RecordStore['integrity'], 'damagedCount' | 'withoutChunksCount'>
  /** Ranges that were served without being verified, since the start. */
  unverifiedReads(): number
}

/** What the routes work with: everything `main.ts` has built, as one value. */
export interface Service {
  readonly config: Config
  readonly version: string
  readonly instanceId: string
  readonly records: RecordStore
  /** Absent where the records are in a file of SQLite. */
  readonly databaseState?: (() => DatabaseState) | undefined
  /** Undefined when no storage backend is bound. */
  readonly blobs: BlobStore | undefined
  readonly reservations: Reservations
  readonly openUploads: OpenUploadsInHand
  /** Whether another instance lives; a doubt counts for the living. */
  readonly isAlive: (instanceId: string) => Promise<boolean>
  /** As `DiscardDeps.removing`. */
  readonly removing: Set<string>
  readonly hashers: ContentHashers
  /** What the work in hand has cost, and for whom; every costly path asks it. */
  readonly budget: WorkBudget
  /** Where the links of blocks are read. */
  readonly blockReadings: BlockReadings
  readonly provers: readonly Prover[]
  readonly proverStaging: ProverStaging
  /** Has a prover prove, here and now, that it holds a file. */
  readonly proveFile: (request: ProofRequest) => Promise<ProvenFile>
  /** What this process has done to place files. */
  readonly placed: () => PlacedCounters
  /** Absent when no storage backend is bound. */
  readonly integrity?: Integrity | undefined
  /** Wakes the job that places files; it may run in another process. */
  readonly placementJob: { wake(): void }
  /** How long an upload waits for its deal on the chain; 0 without a marketplace. */
  readonly dealWaitMs: number
  /** Files up to this size are kept in the database. */
  readonly inlineBytes: number
  /** Undefined when none is configured. */
  readonly chain: Chain | undefined
  /** The chain as callers may ask it; undefined where wallets are no callers. */
  readonly walletChains: WalletChains | undefined
  readonly keys: SigningKeys
  /** Undefined unless signup is by email. */
  readonly mailer: Mailer | undefined
  readonly authorizer: Authorizer
  readonly sessions: SessionKeeper
  /** What the operator forbids. */
  readonly moderation: Moderation
  readonly stallWatch: StallWatch
  readonly clientAddress: ClientAddress
  readonly log: Logger
  readonly tracer: Tracer
  /** Calls that drivers have repeated, by driver. */
  readonly retries: { counts(): ReadonlyMap<string, number> }
  /** Which refused requests are logged. */
  readonly refusals: RefusalLog
  /** The agreed time. */
  readonly now: () => number
  /** The time up to which ends of files have taken effect: `now`, unless they wait because the clock is in doubt. */
  readonly filesNow: () => number
  readonly clock: Pick<Clock, 'state'>
  readonly newId: () => string
  readonly requestOrigin: RequestOrigin
  /** Known once the port is bound. Where nothing says it, the origin that the request in hand was sent to. */
  readonly publicUrl: () => string
  readonly retrievalUrl: RetrievalUrl
  /** Those of this process. */
  readonly requestsInHand: RequestsInHand
  readonly uploadTurns: UploadTurns
  readonly isDraining: () => boolean
}
