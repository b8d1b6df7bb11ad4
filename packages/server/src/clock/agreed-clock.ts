import { DAY_MS, HOUR_MS } from '@lade/core/time'
import type { ClockStep, LastSeen } from './clock-marks.ts'
import type { RunningTime } from './running-time.ts'

/** A difference between the source and the running time that is followed. */
export const TOLERANCE_MS = 60_000
/** How often the source is asked. */
export const SAMPLE_MS = 2000
/** How often the last-seen time is written. */
export const SEEN_EVERY_MS = 30_000

/** By how much the running time may be wrong; oscillators are fifty times better. */
const DRIFT = 0.001
/** Time that is ahead goes at least this fast until the source has caught up. */
const SLOWEST = 0.5
/** A process that has not noticed within this time that a step is believed joins the others. */
const BELIEVING_MS = 10 * 60_000

/** What the source and the records say at one moment. */
export interface ClockReading {
  readonly sourceMs: number
  readonly seen: LastSeen | undefined
  readonly step: ClockStep | undefined
}

/**
 * What a reading comes to:
 * - `agrees`: there is nothing to do.
 * - `doubts`: the source has made a step that nothing explains. Time goes on without it, and `step` is to be recorded.
 * - `waits`: the service was stopped for some time, or the clock is wrong: the ends of files wait. `step` is to be recorded.
 * - `returned`: the source is back where it should be; the ends of files wait a while. `step` is to be recorded.
 * - `believes`: the source was steady for long enough. Call {@link AgreedClock.believe} once the records are prepared.
 * - `joins`: this process had another time than those that share its records, and has taken over theirs.
 */
export type Verdict = { readonly kind: 'agrees' | 'joins' } | StepVerdict

/** What is made of a step of the clock. */
export interface StepVerdict {
  readonly kind: 'doubts' | 'waits' | 'returned' | 'believes'
  readonly step: ClockStep
}

export interface AgreedClockOptions {
  /** This instance. */
  readonly by: string
  readonly running: RunningTime
}

/**
 * The time that all instances on the same records agree on.
 *
 * It goes on with the running time of the machine, and follows the source as long as the two differ by {@link TOLERANCE_MS} at most. A step
 * beyond that is not followed until the source has been steady for as long as the step is wide, at least an hour and at most a day.
 * Until then, no file ends. Within one process the time never goes backwards, except when a step backwards is believed, and when a time that
 * was taken at the start turns out to be wrong.
 *
 * @example
 * const clock = new AgreedClock({ by: instanceId, running: openRunningTime() })
 * clock.begin({ sourceMs: Date.now(), seen, step })
 * clock.now() // 1795262400000
 */
export class AgreedClock {
  readonly #by: string
  readonly #running: RunningTime
  /** The time was `#agreedMs` at `#elapsedMs`, and goes `#slower` than the running time for one sample. */
  #agreedMs = 0
  #elapsedMs = 0
  #slower = 0
  /** What the running time comes to since the source was last believed. */
  #referenceMs = 0
  #referenceAt = 0
  #endsAt: number | undefined
  #sourceAheadMs = 0

  constructor({ by, running }: AgreedClockOptions) {
    this.#by = by
    this.#running = running
  }

  /** Epoch milliseconds, a whole number. */
  now(): number {
    const passedMs = this.#running.elapsedMs() - this.#elapsedMs
    return Math.floor(this.#agreedMs + passedMs - Math.min(passedMs, SAMPLE_MS) * this.#slower)
  }

  /** While the ends of files wait: no file whose term ends later has ended. Undefined when they do not wait. */
  endsAt(): number | undefined {
    return this.#endsAt
  }

  /** By how much the source was ahead of the agreed time when it was last asked. */
  sourceAheadMs(): number {
    return this.#sourceAheadMs
  }

  /** The first reading: the records say what time it was last, and the uptime of the machine may say what has passed since. */
  begin(reading: ClockReading): Verdict {
    const { sourceMs, seen, step } = reading
    const passedMs = seen === undefined ? undefined : this.#sinceSeen(seen)
    const lastMs = seen === undefined ? Number.NEGATIVE_INFINITY : seen.at + (passedMs ?? 0)
    const open = openStep(step, lastMs)
    const agreedMs = sourceMs + (open?.offsetMs ?? 0)
    const aheadMs = agreedMs - lastMs
    if (seen !== undefined && passedMs !== undefined) {
      this.#set(lastMs, seen.referenceMs + passedMs)
      return this.observe(reading)
    }
    // A clock that is behind the last-seen time is wrong in any case.
    if (aheadMs < -TOLERANCE_MS) {
      this.#set(lastMs)
      return this.observe(reading)
    }
    this.#set(agreedMs)
    if (seen === undefined || aheadMs <= TOLERANCE_MS + 2 * SEEN_EVERY_MS) return this.observe(reading)
    // A reboot hides how long the stop was.
    const waiting: ClockStep = {
      offsetMs: open?.offsetMs ?? 0,
      believedAt: Math.max(open?.believedAt ?? 0, agreedMs + waitMs(aheadMs)),
      isBelieved: false,
      isAfterStop: (open?.offsetMs ?? 0) === 0,
      endsAt: open?.endsAt ?? lastMs,
      from: open?.from ?? agreedMs,
      fromSequence: open?.fromSequence ?? 0,
    }
    this.observe({ ...reading, step: waiting })
    return { kind: 'waits', step: waiting }
  }

  /** Every further reading. */
  observe({ sourceMs, seen, step }: ClockReading): Verdict {
    const nowMs = this.now()
    const open = openStep(step, nowMs)
    const agreedMs = sourceMs + (open?.offsetMs ?? 0)
    this.#advanceReference(agreedMs)
    if (this.#isNear(agreedMs)) {
      this.#follow(agreedMs)
      this.#endsAt = open?.endsAt
      this.#sourceAheadMs = sourceMs - agreedMs
      return { kind: 'agrees' }
    }
    this.#sourceAheadMs = sourceMs - nowMs
    // The last start may have been the moment at which the clock was wrong.
    const isBeforeStart = open?.isAfterStop && sourceMs < nowMs && sourceMs >= open.endsAt - TOLERANCE_MS
    if (isBeforeStart) this.#set(sourceMs)
    if (open !== undefined && this.#isNear(sourceMs)) {
      this.#follow(sourceMs)
      this.#sourceAheadMs = 0
      return this.#record('returned', { ...open, offsetMs: 0, believedAt: this.now() + HOUR_MS })
    }
    if (step !== undefined && isTaken(step, nowMs) && this.#isNear(sourceMs + step.offsetMs)) {
      return { kind: 'believes', step: { ...step, isBelieved: true } }
    }
    if (seen !== undefined && seen.by !== this.#by && Math.abs(agreedMs - seen.at) <= TOLERANCE_MS) {
      this.#set(agreedMs)
      this.#endsAt = open?.endsAt
      this.#sourceAheadMs = sourceMs - agreedMs
      return { kind: 'joins' }
    }
    const offsetMs = Math.round(this.#referenceMs) - sourceMs
    this.#follow(sourceMs + offsetMs)
    return this.#record('doubts', {
      offsetMs,
      believedAt: nowMs + waitMs(offsetMs),
      isBelieved: false,
      isAfterStop: false,
      endsAt: this.#endsAt ?? open?.endsAt ?? nowMs,
      from: open !== undefined && open.offsetMs !== 0 ? open.from : nowMs,
      fromSequence: open?.fromSequence ?? 0,
    })
  }

  /** Takes the step of the last verdict `believes`: from here on the time is the source's, and files end. */
  believe(): void {
    this.#set(this.now() + this.#sourceAheadMs)
    this.#endsAt = undefined
    this.#sourceAheadMs = 0
  }

  /** What this instance sees now, to be recorded. */
  lastSeen(): LastSeen {
    const { boot } = this.#running
    const referenceMs = Math.round(this.#referenceMs + this.#running.elapsedMs() - this.#referenceAt)
    return { at: this.now(), referenceMs, by: this.#by, boot, uptimeMs: this.#running.uptimeMs() }
  }

  /** How long ago `seen` was; undefined when the machine cannot tell. */
  #sinceSeen(seen: LastSeen): number | undefined {
    const { boot } = this.#running
    const passedMs = this.#running.uptimeMs() - seen.uptimeMs
    return boot !== undefined && boot === seen.boot && passedMs >= 0 ? passedMs : undefined
  }

  #record(kind: 'doubts' | 'returned', step: ClockStep): Verdict {
    this.#endsAt = step.endsAt
    return { kind, step }
  }

  #set(agreedMs: number, referenceMs = agreedMs): void {
    this.#agreedMs = agreedMs
    this.#elapsedMs = this.#running.elapsedMs()
    this.#slower = 0
    this.#referenceMs = referenceMs
    this.#referenceAt = this.#elapsedMs
  }

  /** Small differences: forwards at once, backwards by going slower. */
  #follow(agreedMs: number): void {
    const nowMs = this.now()
    const behindMs = nowMs - agreedMs
    this.#agreedMs = Math.max(nowMs, agreedMs)
    this.#elapsedMs = this.#running.elapsedMs()
    this.#slower = behindMs > 0 ? Math.min(behindMs / SAMPLE_MS, SLOWEST) : 0
  }

  /** The reference follows the source by no more than clocks drift, so that many small steps do not add up to a big one. */
  #advanceReference(agreedMs: number): void {
    const elapsedMs = this.#running.elapsedMs()
    const passedMs = elapsedMs - this.#referenceAt
    const ranMs = this.#referenceMs + passedMs
    const mostMs = passedMs * DRIFT
    const isNear = Math.abs(agreedMs - ranMs) <= TOLERANCE_MS
    this.#referenceMs = ranMs + (isNear ? Math.min(Math.max(agreedMs - ranMs, -mostMs), mostMs) : 0)
    this.#referenceAt = elapsedMs
  }

  #isNear(timeMs: number): boolean {
    return Math.abs(timeMs - this.#referenceMs) <= TOLERANCE_MS
  }
}

/** A step is believed after the source was steady for as long as the step is wide: an hour at least, a day at most. */
function waitMs(stepMs: number): number {
  return Math.min(Math.max(Math.abs(stepMs), HOUR_MS), DAY_MS)
}

/** A step that is not believed yet. */
function openStep(step: ClockStep | undefined, nowMs: number): ClockStep | undefined {
  return step !== undefined && !step.isBelieved && nowMs < step.believedAt ? step : undefined
}

/** True when it is time to believe a step, by the time that goes on without it. */
function isTaken({ offsetMs, believedAt }: ClockStep, nowMs: number): boolean {
  return offsetMs !== 0 && nowMs >= believedAt && nowMs <= believedAt + BELIEVING_MS
}
