import { LAST_SEEN_MARK, readClockStep, readLastSeen, STEP_MARK, writeClockMark } from '../clock/clock-marks.ts'
import type { Config } from '../config/config.ts'
import { withRecords } from './adopt-installation.ts'

/** What the records say about the clock of a service. */
export interface ClockDoubt {
  /** By how much its clock is ahead of the time that it uses; 0 when only the ends of files wait. */
  readonly aheadMs: number
  /** The time that it used when it was last seen. */
  readonly agreedMs: number
  /** The last end of a file that has taken effect. */
  readonly endsAt: number
}

/**
 * Has the instances on these records believe their clock at once, and end files again. They may run. Those that do not are as at any start.
 *
 * @param agree - asked before anything is changed; false changes nothing.
 * @returns `none` when no clock is in doubt.
 * @throws {StartError} when the records cannot be opened; {LadeError} `storage_failed`, `read_only`.
 */
export async function acceptClock(
  config: Config,
  agree: (doubt: ClockDoubt) => Promise<boolean>,
): Promise<'accepted' | 'declined' | 'none'> {
  return withRecords(config, async ({ inventory }) => {
    const step = readClockStep(await inventory.mark(STEP_MARK))
    const seen = readLastSeen(await inventory.mark(LAST_SEEN_MARK))
    if (step === undefined || seen === undefined || step.isBelieved || seen.at >= step.believedAt) return 'none'
    if (!(await agree({ aheadMs: -step.offsetMs, agreedMs: seen.at, endsAt: step.endsAt }))) return 'declined'
    // The time that goes on without the step is later than when it was last seen.
    const value = writeClockMark({ ...step, isBelieved: true, believedAt: seen.at })
    const audit = { at: seen.at, actor: 'operator', action: 'clock.accepted', subject: 'service' }
    await inventory.setMark({ name: STEP_MARK, value, audit: { ...audit, detail: { aheadMs: -step.offsetMs } } })
    return 'accepted'
  })
}
