import { LadeError } from '@lade/core/errors'
import type { Logger } from 'pino'
import type { RecordStore } from '../records/record-store.ts'
import {
  AgreedClock,
  type ClockReading,
  SAMPLE_MS,
  SEEN_EVERY_MS,
  type StepVerdict,
  type Verdict,
} from './agreed-clock.ts'
import {
  type ClockStep,
  LAST_SEEN_MARK,
  type LastSeen,
  readClockStep,
  readLastSeen,
  STEP_MARK,
  writeClockMark,
} from './clock-marks.ts'
import { repeat } from './repeat.ts'
import { openRunningTime, type RunningTime } from './running-time.ts'

/** A source that takes longer to answer is asked again. */
const SLOWEST_ANSWER_MS = 5000
/** Uploads under way when a step is believed are recorded within this time. */
const UPLOADS_UNDER_WAY_MS = 60_000

/** Files whose transactions may be under way at the same time. */
const SIDE_BY_SIDE = 1000

/** What the clock needs of a `RecordStore`. */
export type ClockRecords = Pick<RecordStore, 'inventory' | 'files' | 'time'>

export interface ClockDeps {
  readonly records: ClockRecords
  readonly instanceId: string
  readonly log: Logger
  /** The time, unless the records have a clock. @default Date.now */
  readonly source?: () => number
  /** @default this machine's */
  readonly running?: RunningTime
  /** @default 2_000 */
  readonly everyMs?: number
}

/** What can be asked of a clock by those who report it. */
export interface ClockState {
  /** By how much the source of the time is ahead of the agreed time. */
  readonly offsetMs: number
  /** True while no file ends, and nothing is deleted because of an end. */
  readonly isDeletionPaused: boolean
}

/** The agreed time of the instances on the same records. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number
  /** While the ends of files wait, the time up to which they have taken effect; undefined otherwise. */
  endsAt(): number | undefined
  state(): ClockState
  /** Asks the source now. What `openClock` repeats. */
  sample(): Promise<void>
  /** Stops asking, and keeps the last-seen time. */
  close(): Promise<void>
}

/** A clock that follows `now` without a doubt, for tests and programs that bring their own. */
export function trustedClock(now: () => number): Clock {
  return {
    now,
    endsAt: () => undefined,
    state: () => ({ offsetMs: 0, isDeletionPaused: false }),
    sample: async () => {},
    close: async () => {},
  }
}

/**
 * Opens the agreed clock: asks its source every two seconds, keeps the last-seen time in the records, and says so when the source makes a
 * step that nothing explains. The source is the clock of the database where the records have one, else that of the system.
 *
 * @throws {LadeError} `storage_failed` when the records do not answer.
 *
 * @example
 * const clock = await openClock({ records, instanceId, log })
 * clock.now() // 1795262400000
 */
export async function openClock(deps: ClockDeps): Promise<Clock> {
  const { records, instanceId, log, source = Date.now, everyMs = SAMPLE_MS } = deps
  const { inventory } = records
  const running = deps.running ?? openRunningTime()
  const agreed = new AgreedClock({ by: instanceId, running })
  let seenAtMs = Number.NEGATIVE_INFINITY
  let believed: { readonly step: ClockStep; readonly to: number; readonly atMs: number } | undefined
  let isClosed = false

  /** Undefined when the answer took so long that nobody knows which moment it is of. */
  async function read(): Promise<ClockReading | undefined> {
    const seen = readLastSeen(await inventory.mark(LAST_SEEN_MARK))
    const step = readClockStep(await inventory.mark(STEP_MARK))
    const askedMs = running.elapsedMs()
    const answer = records.time === undefined ? source() : await records.time()
    const tookMs = running.elapsedMs() - askedMs
    return tookMs > SLOWEST_ANSWER_MS ? undefined : { sourceMs: Math.round(answer + tookMs / 2), seen, step }
  }

  async function first(): Promise<ClockReading> {
    const reading = await read()
    if (reading === undefined) return first()
    if (reading.seen !== undefined) return reading
    // Written by a version that kept no last-seen time.
    const newest = await records.files.newest()
    if (newest === undefined) return reading
    return { ...reading, seen: lastUpload(newest.uploadedAt, instanceId) }
  }

  async function act(verdict: Verdict): Promise<void> {
    if (!('step' in verdict)) {
      if (verdict.kind === 'joins') log.warn('this process was paused and takes over the time of the other instances')
      return
    }
    if (verdict.kind === 'believes') await believe(verdict.step)
    else report(verdict)
    await recordStep(verdict.step)
    await recordSeen()
  }

  async function recordStep(step: ClockStep): Promise<void> {
    const newest = step.fromSequence === 0 ? await records.files.newest() : undefined
    // Transactions side by side can be recorded out of order.
    const fromSequence = newest === undefined ? step.fromSequence : Math.max(0, newest.sequence - SIDE_BY_SIDE)
    await inventory.setMark({ name: STEP_MARK, value: writeClockMark({ ...step, fromSequence }) })
  }

  async function recordSeen(): Promise<void> {
    seenAtMs = running.elapsedMs()
    await inventory.setMark({ name: LAST_SEEN_MARK, value: writeClockMark(agreed.lastSeen()) })
  }

  async function believe(step: ClockStep): Promise<void> {
    const to = agreed.now()
    await postpone(step, to)
    agreed.believe()
    believed = { step, to, atMs: running.elapsedMs() }
    log.warn({ stepSeconds: -seconds(step.offsetMs) }, 'the clock was steady and is accepted: files expire again')
  }

  /** Files that were staged while time was behind get all of their term. */
  async function postpone({ offsetMs, from, fromSequence }: ClockStep, to: number): Promise<void> {
    if (offsetMs < 0) await records.files.postpone({ fromSequence, from, to, byMs: -offsetMs })
  }

  function report({ kind, step }: StepVerdict): void {
    const facts = { aheadSeconds: -seconds(step.offsetMs), until: new Date(step.believedAt) }
    if (kind === 'doubts') {
      log.error(
        facts,
        'the clock made a step: time continues without it, and no file expires until it is corrected or steady',
      )
    } else if (kind === 'returned') {
      log.warn(facts, 'the clock is back: files expire again when it has been steady for an hour')
    } else {
      const stoppedSeconds = seconds(agreed.now() - step.endsAt)
      log.info({ stoppedSeconds, until: facts.until }, 'the service was stopped for a while: files expire later')
    }
  }

  async function sample(): Promise<void> {
    running.noticeSleep()
    const reading = await read()
    if (reading === undefined || isClosed) return
    await act(agreed.observe(reading))
    if (believed !== undefined && running.elapsedMs() > believed.atMs + UPLOADS_UNDER_WAY_MS) {
      const { step, to } = believed
      believed = undefined
      await postpone(step, to)
    }
    if (running.elapsedMs() >= seenAtMs + SEEN_EVERY_MS) await recordSeen()
  }

  /** What the records do not take now is tried again; the time goes on without them. */
  async function quietly(task: () => Promise<void>): Promise<void> {
    try {
      await task()
    } catch (error) {
      if (!LadeError.is(error)) throw error
      log.debug({ err: error }, 'could not record the time')
    }
  }

  async function sampleOrReport(): Promise<void> {
    await quietly(sample).catch((error: unknown) => log.error({ err: error }, 'could not read the clock'))
  }

  const verdict = agreed.begin(await first())
  await quietly(() => act(verdict))
  await quietly(recordSeen)
  const repetition = repeat(sampleOrReport, everyMs)
  return {
    now: () => agreed.now(),
    endsAt: () => agreed.endsAt(),
    state: () => ({ offsetMs: agreed.sourceAheadMs(), isDeletionPaused: agreed.endsAt() !== undefined }),
    sample,
    async close() {
      isClosed = true
      await repetition.stop()
      await quietly(recordSeen)
    },
  }
}

function lastUpload(at: number, by: string): LastSeen {
  return { at, referenceMs: at, by, boot: undefined, uptimeMs: 0 }
}

function seconds(ms: number): number {
  return Math.round(ms / 1000)
}
