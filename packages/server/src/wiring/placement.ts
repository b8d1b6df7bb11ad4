import { randomUUID } from 'node:crypto'
import { LadeError } from '@lade/core/errors'
import type { WorkBudget } from '@lade/node/budget/work-budget'
import type { Logger } from 'pino'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { Address, Chain } from '../chain/chain.ts'
import type { Config } from '../config/config.ts'
import type { Service } from '../http/service.ts'
import { createDealProposer } from '../onchain-deals/deal-proposer.ts'
import { proveFile } from '../placement/challenge.ts'
import { challengeQueues } from '../placement/challenge-queues.ts'
import { Outages } from '../placement/outages.ts'
import { PlacementCounters } from '../placement/placement-counters.ts'
import { createPlacementJob, PLACEMENT_LEASE } from '../placement/placement-job.ts'
import { DEFAULT_SCHEDULE } from '../placement/placement-schedule.ts'
import { createProverStaging } from '../placement/stage-at-prover.ts'
import type { Prover } from '../proving/prover.ts'
import { createLeaseholder } from '../records/leaseholder.ts'
import type { RecordStore } from '../records/record-store.ts'

const GIB = 2n ** 30n
const DAY_SECONDS = 86_400n

export interface PlacingDeps {
  readonly config: Config
  readonly records: RecordStore
  readonly blobs: BlobStore | undefined
  readonly provers: readonly Prover[]
  readonly chain: Chain | undefined
  readonly budget: WorkBudget
  /** True while callers are answered by this process. */
  readonly hasCallers: () => boolean
  readonly instanceId: string
  readonly publicUrl: () => string
  readonly now: () => number
  readonly log: Logger
}

/** What callers and the job need of provers and of the chain. */
export interface Placing
  extends Pick<Service, 'proverStaging' | 'placementJob' | 'placed' | 'proveFile' | 'dealWaitMs' | 'inlineBytes'> {
  start(): void
  stop(): Promise<void>
}

/** Builds all that hands files to provers, keeps them there, and makes deals about them. */
export function createPlacing(deps: PlacingDeps): Placing {
  const { config, records, blobs, provers, budget, now } = deps
  const { copies, stage, aggregateSeconds, auditSeconds, ipfsCopies } = config.placement
  const network = provers.filter(({ isLocal }) => !isLocal)
  const minimums = network.map(({ limits }) => limits.minimumBytes)
  const aggregateBelowBytes = Math.max(config.placement.aggregateBelowBytes, ...minimums)
  // Whoever audits often wants to know soon.
  const auditRetryMs = DEFAULT_SCHEDULE.auditRetryMs.map((waitMs) => Math.min(waitMs, auditSeconds * 1000))
  const schedule = { ...DEFAULT_SCHEDULE, auditRetryMs }
  const proverStaging = createProverStaging({ ...deps, copies, aggregateBelowBytes, stage, newId: randomUUID })
  const leaseholder = createLeaseholder({ records, ...PLACEMENT_LEASE, holder: deps.instanceId, now })
  const proposer = proposerOf({ ...deps, records: leaseholder.records })
  const job =
    blobs === undefined
      ? undefined
      : createPlacementJob({
          ...deps,
          leaseholder,
          blobs,
          sourceUrl: (pieceCid) => `${deps.publicUrl()}/piece/${pieceCid}`,
          copies,
          aggregateBelowBytes,
          aggregateSeconds,
          auditSeconds,
          ipfsCopies,
          schedule,
          ...(proposer !== undefined && { proposer }),
        })
  const stopping = new AbortController()
  const queueOf = challengeQueues(budget)
  const proving = { records, provers, budget, queueOf, now, schedule, outages: new Outages(), signal: stopping.signal }
  // What is handed to a prover at once is read from the store.
  const inlineBytes = network.length === 0 ? config.inlineBytes : Math.min(config.inlineBytes, aggregateBelowBytes - 1)

  return {
    proverStaging,
    placementJob: { wake: () => job?.wake() },
    placed: () => ({
      ...(job?.snapshot() ?? new PlacementCounters().snapshot()),
      pendingTransactions: proposer?.state().pendingTransactions,
      oldestPendingAt: proposer?.state().oldestPendingAt,
      market: proposer && { ...proposer.state(), budgetMicroUsdc: config.chain?.marketplace?.microUsdcPerDay },
    }),
    proveFile: (request) => proveFile(proving, request),
    dealWaitMs: proposer === undefined ? 0 : (config.chain?.marketplace?.waitMs ?? 0),
    inlineBytes,
    start: () => job?.start(),
    async stop() {
      stopping.abort(new LadeError('shutting_down', { retryAfterSeconds: 5 }))
      await job?.stop()
    },
  }
}

function proposerOf({ config, records, chain, provers, now, log }: PlacingDeps) {
  const settings = config.chain?.marketplace
  if (settings === undefined || chain?.marketplace === undefined) return undefined
  const { microUsdcPerGibDay, bondPercent, microUsdcPerDay, feeCapWei, confirmations, finalityBlocks } = settings
  const accounts = new Map(
    provers.flatMap(({ name, account }) => (account === null ? [] : [[name, account as Address] as const])),
  )
  return createDealProposer({
    records,
    chain,
    now,
    log,
    accounts,
    priceOf: ({ paddedSizeBytes, durationSeconds }) =>
      (microUsdcPerGibDay * BigInt(paddedSizeBytes) * BigInt(durationSeconds)) / (GIB * DAY_SECONDS),
    feeCap: feeCapWei,
    bondPercent,
    dealMicroUsdcPerDay: microUsdcPerDay,
    confirmations,
    finalityBlocks,
  })
}
