import { randomBytes as secureRandomBytes } from 'node:crypto'
import { LadeError } from '@lade/core/errors'
import type { Logger } from 'pino'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { DealProposer } from '../onchain-deals/deal-proposer.ts'
import type { Prover } from '../proving/prover.ts'
import type { Leaseholder, LeaseTerms } from '../records/leaseholder.ts'
import { aggregateWaiting } from './aggregate.ts'
import { enrolFiles } from './enrol.ts'
import { Outages } from './outages.ts'
import type { PlacementContext } from './placement-context.ts'
import { PlacementCounters, type PlacementCounts } from './placement-counters.ts'
import { PlacementQueues } from './placement-queues.ts'
import { DEFAULT_SCHEDULE, type PlacementSchedule } from './placement-schedule.ts'
import { detachRemovedProvers, reconcilePieces } from './reconcile.ts'
import { TaskQueue } from './task-queue.ts'

/** Of whoever does this work. */
export const PLACEMENT_LEASE: LeaseTerms = { name: 'placement', lastsMs: 10_000 }
/** Files and pieces that are looked at in one round; uploads wait for the transaction that enrols them. */
const ENROL_BATCH = 500
const RECONCILE_BATCH = 256
const AGGREGATE_TARGET_BYTES = 64 * 1024 * 1024
/** The shortest time from the end of one round to the beginning of the next, and how much longer than the round itself. */
const MIN_REST_MS = 25
const REST_PER_WORK = 2
const BUSY_MS = 1000
const QUIET_MS = 5000

export interface PlacementJobDeps {
  /** Of the lease {@link PLACEMENT_LEASE}, whose records are worked on. */
  readonly leaseholder: Leaseholder
  readonly blobs: BlobStore
  readonly provers: readonly Prover[]
  readonly now: () => number
  readonly log: Logger
  readonly sourceUrl: (pieceCid: string) => string
  readonly copies: number
  readonly aggregateBelowBytes: number
  readonly aggregateSeconds: number
  readonly auditSeconds: number
  /** @default 64 MiB, padded */
  readonly aggregateTargetBytes?: number
  /** @default randomBytes of node:crypto */
  readonly randomBytes?: (sizeBytes: number) => Uint8Array
  /** @default about an hour of retries; see `PlacementSchedule` */
  readonly schedule?: Partial<PlacementSchedule>
  /** Runs beside placing, in the same process of all. */
  readonly proposer?: Pick<DealProposer, 'round'>
}

/** What came of one round of placement. */
export interface PlacementRound {
  /** True when this process has the lease, and so did the work. */
  readonly isMine: boolean
  /** True when there was anything to do. */
  readonly isBusy: boolean
}

/** Gives files to provers until each has its copies. Of several processes, the one with the lease does it. */
export interface PlacementJob {
  /** Something has come that can be placed: the next round begins soon. Cheap, and safe to call at any time. */
  wake(): void
  /** Repeats rounds until `stop`. */
  start(): void
  /** Ends what is under way and resolves soon; what was not recorded is done again by whoever comes next. */
  stop(): Promise<void>
  /** One round, with all the work that it begins; for those who do not `start`. */
  round(): Promise<PlacementRound>
  /** What was done since the job was created. */
  snapshot(): PlacementCounts
}

/**
 * Places files with provers and sees to it that they stay there: new files are enrolled, small ones aggregated, pieces sent, added to data
 * sets, audited, moved when a prover fails, and removed when nobody needs them.
 *
 * Of all processes that share the records one does this: the one that has the lease. Everything that is decided is recorded first, so that
 * the job may end at any moment, here or in another process, and goes on from the records. Memory does not grow with the number of files.
 * A step that fails is logged and tried again.
 *
 * @example
 * const job = createPlacementJob({ ...parts, copies: 2, aggregateBelowBytes: 1_048_576, aggregateSeconds: 3600, auditSeconds: 86_400 })
 * job.start()
 */
export function createPlacementJob(deps: PlacementJobDeps): PlacementJob {
  const { leaseholder, now, log } = deps
  const { records } = leaseholder
  const outages = new Outages()
  const counters = new PlacementCounters()
  const stopping = new AbortController()
  let term: Term | undefined
  let hasFailed = false
  let isAwake = false
  let interrupt = (): void => {}
  let looping: Promise<void> = Promise.resolve()

  function wake(): void {
    isAwake = true
    interrupt()
  }

  function beginTerm(): Term {
    const ending = new AbortController()
    const context: PlacementContext = {
      ...deps,
      records,
      aggregateTargetBytes: deps.aggregateTargetBytes ?? AGGREGATE_TARGET_BYTES,
      randomBytes: deps.randomBytes ?? secureRandomBytes,
      schedule: { ...DEFAULT_SCHEDULE, ...deps.schedule },
      signal: ending.signal,
      outages,
      counters,
    }
    const onDone = (error: unknown): void => {
      if (error !== undefined && !ending.signal.aborted) {
        hasFailed = true
        log.error({ err: error }, 'a piece could not be placed')
        return
      }
      wake()
    }
    const queues = new PlacementQueues(context, (error) => {
      // What was just stored may want a deal.
      if (term !== undefined) term.proposeAt = Math.min(term.proposeAt, performance.now() + BUSY_MS)
      onDone(error)
    })
    return { context, queues, proposing: new TaskQueue(1, onDone), ending, hasDetached: false, proposeAt: 0 }
  }

  async function endTerm(reason: Error): Promise<void> {
    if (term === undefined) return
    const { ending, queues, proposing } = term
    term = undefined
    ending.abort(reason)
    queues.dismiss()
    await Promise.all([queues.whenIdle(), proposing.whenIdle()])
  }

  /** Takes the lease, or keeps it. */
  async function hold(): Promise<Term | undefined> {
    if (await leaseholder.hold()) {
      term ??= beginTerm()
      return term
    }
    await endTerm(new Error('another process took over placement'))
    return undefined
  }

  /** Everything that is due is begun; what takes long goes on after this. */
  async function begin(): Promise<PlacementRound> {
    const held = await hold()
    if (held === undefined) return { isMine: false, isBusy: false }
    const { context, queues } = held
    if (!held.hasDetached) {
      await step(async () => {
        await detachRemovedProvers(context)
        await records.placements.markAllUnreconciled({ now: now() })
        held.hasDetached = true
        return true
      })
    }
    const steps = [
      async () => (await enrolFiles(context, ENROL_BATCH)) > 0,
      () => aggregateWaiting(context),
      async () => (await reconcilePieces(context, RECONCILE_BATCH)) > 0,
      () => queues.start(),
    ]
    let isBusy = false
    for (const one of steps) isBusy = (await step(one)) || isBusy
    propose(held)
    return { isMine: true, isBusy }
  }

  async function step(action: () => Promise<boolean>): Promise<boolean> {
    try {
      return await action()
    } catch (error) {
      if (stopping.signal.aborted) return false
      hasFailed = true
      log.error({ err: error }, 'a step of placement failed')
      return false
    }
  }

  function propose(held: Term): void {
    const { proposer } = deps
    if (proposer === undefined || performance.now() < held.proposeAt) return
    held.proposing.offer('proposer', async () => {
      held.proposeAt = performance.now() + BUSY_MS
      const { nextInMs } = await proposer.round()
      held.proposeAt = performance.now() + nextInMs
    })
  }

  /** While the proposer is at it, its end wakes the job. */
  function untilProposing(): number {
    if (deps.proposer === undefined || term === undefined || !term.proposing.isIdle) return QUIET_MS
    return Math.max(MIN_REST_MS, term.proposeAt - performance.now())
  }

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      isAwake = false
      const startedAt = performance.now()
      const round = await begin().catch((error: unknown): PlacementRound => {
        hasFailed = true
        // The records say themselves when nothing can be written, and when it can again.
        if (!LadeError.has(error, 'read_only')) log.error({ err: error }, 'placement failed')
        return { isMine: term !== undefined, isBusy: false }
      })
      // Uploads write to the same records: they get most of the time, also while there is much to be placed.
      const restMs = Math.max(MIN_REST_MS, REST_PER_WORK * (performance.now() - startedAt))
      await rest(hasFailed ? BUSY_MS : restMs, false)
      hasFailed = false
      const isUnderWay = term?.queues.isUnderWay ?? false
      if (!isAwake && !round.isBusy) await rest(Math.min(isUnderWay ? BUSY_MS : QUIET_MS, untilProposing()), true)
    }
  }

  async function rest(ms: number, isWakeable: boolean): Promise<void> {
    if (stopping.signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    timer.unref()
    interrupt = () => {
      if (isWakeable || stopping.signal.aborted) resolve()
    }
    await promise
    clearTimeout(timer)
    interrupt = () => {}
  }

  return {
    wake,
    start() {
      looping = loop()
    },
    async stop() {
      if (!stopping.signal.aborted) stopping.abort(new Error('placement stops'))
      interrupt()
      term?.ending.abort(stopping.signal.reason)
      await looping
      await endTerm(new Error('placement stops'))
      await leaseholder.giveBack()
    },
    async round() {
      const round = await begin()
      await Promise.all([term?.queues.whenIdle(), term?.proposing.whenIdle()])
      return round
    },
    snapshot: () => counters.snapshot(),
  }
}

/** The time from taking the lease to losing it. */
interface Term {
  readonly context: PlacementContext
  readonly queues: PlacementQueues
  readonly proposing: TaskQueue
  readonly ending: AbortController
  hasDetached: boolean
  /** By the monotonic clock. */
  proposeAt: number
}
