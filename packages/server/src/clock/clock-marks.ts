/** The last time that an instance saw. Kept in the records, so that a restart under a wrong clock is noticed. */
export interface LastSeen {
  /** The agreed time, in epoch milliseconds. */
  readonly at: number
  /** What the running time alone comes to. */
  readonly referenceMs: number
  /** The instance that saw it. */
  readonly by: string
  /** Identifies one run of the operating system; undefined where it has no such id. */
  readonly boot: string | undefined
  /** How long that run had lasted at `at`, sleep included. */
  readonly uptimeMs: number
}

/** A step of the clock that nothing explains. All instances on the same records see the same one. */
export interface ClockStep {
  /** To be added to the source's time while it is not believed; 0 while only the ends of files wait. */
  readonly offsetMs: number
  /** The agreed time at which the source is believed, if it stays steady until then. */
  readonly believedAt: number
  /** True once an instance, or the operator, believes the source. */
  readonly isBelieved: boolean
  /** True for one that was met at a start after a stop of unknown length: the time that was taken then may be wrong. */
  readonly isAfterStop: boolean
  /** Files whose term ends later than this do not end before `believedAt`. */
  readonly endsAt: number
  /** The agreed time at which the step was noticed. */
  readonly from: number
  /** No file that was staged since the step has a lower sequence. */
  readonly fromSequence: number
}

/** The names under which the records keep them. */
export const LAST_SEEN_MARK = 'clock-seen'
export const STEP_MARK = 'clock-step'

/** Undefined for no mark, and for one that cannot be read. */
export function readLastSeen(text: string | undefined): LastSeen | undefined {
  const { at, referenceMs, by, boot, uptimeMs } = fieldsOf(text)
  if (!isTime(at) || !isTime(referenceMs) || typeof by !== 'string' || typeof uptimeMs !== 'number') return undefined
  return { at, referenceMs, by, boot: typeof boot === 'string' ? boot : undefined, uptimeMs }
}

/** Undefined for no mark, and for one that cannot be read. */
export function readClockStep(text: string | undefined): ClockStep | undefined {
  const { offsetMs, believedAt, isBelieved, isAfterStop, endsAt, from, fromSequence } = fieldsOf(text)
  if (![offsetMs, believedAt, endsAt, from, fromSequence].every(isTime)) return undefined
  const flags = { isBelieved: isBelieved === true, isAfterStop: isAfterStop === true }
  return { offsetMs, believedAt, ...flags, endsAt, from, fromSequence } as ClockStep
}

/** The text of either mark. */
export function writeClockMark(mark: LastSeen | ClockStep): string {
  return JSON.stringify(mark)
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

function fieldsOf(text: string | undefined): Readonly<Record<string, unknown>> {
  if (text === undefined) return {}
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}
