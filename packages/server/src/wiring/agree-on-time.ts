import { heldRecords } from '../clock/held-records.ts'
import { type Clock, openClock, trustedClock } from '../clock/keep-clock.ts'
import type { RecordStore } from '../records/record-store.ts'
import type { DriverSurroundings } from './open-drivers.ts'

/** The time of the service, and the records as they are at that time. */
export interface AgreedTime {
  readonly clock: Clock
  readonly now: () => number
  /** The time up to which ends of files have taken effect. `now`, unless the ends of files wait. */
  readonly filesNow: () => number
  readonly records: RecordStore
}

/** Opens the agreed clock on these records, unless the caller brought a clock of its own. */
export async function agreeOnTime(
  records: RecordStore,
  surroundings: Pick<DriverSurroundings, 'log' | 'closers'> & {
    readonly instanceId: string
    readonly ownNow: (() => number) | undefined
  },
): Promise<AgreedTime> {
  const { log, closers, instanceId, ownNow } = surroundings
  const clock = ownNow === undefined ? await openClock({ records, instanceId, log }) : trustedClock(ownNow)
  closers.push(() => clock.close())
  const now = (): number => clock.now()
  const filesNow = (): number => clock.endsAt() ?? clock.now()
  return { clock, now, filesNow, records: heldRecords(records, () => clock.endsAt()) }
}
