import { setTimeout as sleep } from 'node:timers/promises'
import { LadeError } from '@lade/core/errors'
import type { Leaseholder, LeaseTerms } from '../records/leaseholder.ts'
import { Outages } from './outages.ts'
import { PlacementCounters, type PlacementCounts } from './placement-counters.ts'
import { PlacementTerm, type PlacementTermOptions } from './placement-term.ts'

/** Of whoever does this work. */
export const PLACEMENT_LEASE: LeaseTerms = { name: 'placement', lastsMs: 10_000 }
/** Between two rounds. */
const REST_MS = 5
/** While there are callers, the rest after a round is so many times as long as the round at least. */
const REST_PER_WORK = 2
/** The rest beside callers who leave the event loop idle; it is four times as long where they leave it idle half of the time, and so on. */
const LEAST_REST_MS = 25
/** The rest beside callers who never leave it idle, so that what they upload is placed in the end. */
const MOST_REST_MS = 1000
const BUSY_MS = 1000
const QUIET_MS = 5000

export interface PlacementJobDeps
  extends Omit<PlacementTermOptions, 'records' | 'outages' | 'counters' | 'onProgress' | 'onFailure'> {
  /** Of the lease {@link PLACEMENT_LEASE}, whose records are worked on. */
  readonly leaseholder: Leaseholder
  /** True while callers are answered, who get most of the time, also while there is much to be placed. @default never */
  readonly hasCallers?: (() => boolean) | undefined
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
export function createPlacementJob({ leaseholder, hasCallers = () => false, ...work }: PlacementJobDeps): PlacementJob {
  const outages = new Outages()
  const counters = new PlacementCounters()
  const stopping = new AbortController()
  let term: PlacementTerm | undefined
  let hasFailed = false
  /** Aborted when more may be due; replaced when a round begins. */
  let waking = new AbortController()
  let looping: Promise<void> = Promise.resolve()

  const wake = (): void => {
    // It is woken after every piece of work, and each abort makes an error, with its stack.
    if (!waking.signal.aborted) waking.abort()
  }

  function onFailure(error: unknown, message: string): void {
    if (stopping.signal.aborted) return
    hasFailed = true
    work.log.error({ err: error }, message)
  }

  async function endTerm(reason: Error): Promise<void> {
    const ended = term
    term = undefined
    await ended?.end(reason)
  }

  /** Takes the lease or renews it; undefined when another process has it. */
  async function hold(): Promise<PlacementTerm | undefined> {
    if (await leaseholder.hold()) {
      const { records } = leaseholder
      term ??= new PlacementTerm({ ...work, records, outages, counters, onProgress: wake, onFailure })
      return term
    }
    await endTerm(new Error('another process took over placement'))
    return undefined
  }

  async function startRound(): Promise<PlacementRound> {
    const held = await hold()
    return held === undefined ? { isMine: false, isBusy: false } : { isMine: true, isBusy: await held.start() }
  }

  async function loop(): Promise<void> {
    let loadBefore = performance.eventLoopUtilization()
    while (!stopping.signal.aborted) {
      waking = new AbortController()
      const startedAt = performance.now()
      const { isBusy } = await startRound().catch((error: unknown) => {
        hasFailed = true
        // The records log themselves when nothing can be written, and when it can again.
        if (!LadeError.has(error, 'read_only')) work.log.error({ err: error }, 'placement failed')
        return { isBusy: false }
      })
      const workMs = performance.now() - startedAt
      const load = performance.eventLoopUtilization()
      const { utilization } = performance.eventLoopUtilization(load, loadBefore)
      loadBefore = load
      const restMs = hasCallers() ? restBesideCallersMs(workMs, utilization) : REST_MS
      await rest(hasFailed ? BUSY_MS : restMs, stopping.signal)
      hasFailed = false
      if (!isBusy) await rest(untilDueMs(term), waking.signal)
    }
  }

  return {
    wake,
    start() {
      looping = loop()
    },
    async stop() {
      const reason = new Error('placement stops')
      stopping.abort(reason)
      wake()
      term?.abort(reason)
      await looping
      await endTerm(reason)
      await leaseholder.giveBack()
    },
    async round() {
      const round = await startRound()
      await term?.whenIdle()
      return round
    },
    snapshot: () => counters.snapshot(),
  }
}

/** @param utilization - the share of the time since the last round in which the event loop was not idle. */
function restBesideCallersMs(workMs: number, utilization: number): number {
  const restMs = Math.min(LEAST_REST_MS / (1 - utilization) ** 2, MOST_REST_MS)
  return Math.max(restMs, REST_PER_WORK * workMs)
}

/** How long to wait for the next round when there is nothing to do. */
function untilDueMs(term: PlacementTerm | undefined): number {
  const untilProposingMs = term?.untilProposingMs ?? QUIET_MS
  return Math.min(term?.isUnderWay ? BUSY_MS : QUIET_MS, Math.max(LEAST_REST_MS, untilProposingMs))
}

/** Waits, unless the signal is aborted before. */
async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => {})
}
