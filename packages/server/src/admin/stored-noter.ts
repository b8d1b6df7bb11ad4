import { utcDay } from '../quotas/utc-day.ts'
import type { RecordStore } from '../records/record-store.ts'

const EVERY_MS = 600_000

/** A function that notes, when it is called and ten minutes are over, what is stored now, for the trend. */
export function storedNoter(deps: {
  readonly records: Pick<RecordStore, 'admin'>
  readonly now: () => number
}): () => Promise<void> {
  let notedAt = Number.NEGATIVE_INFINITY
  return async () => {
    const now = deps.now()
    if (Math.abs(now - notedAt) < EVERY_MS) return
    const day = utcDay(now)
    const { storedBytes } = await deps.records.admin.totals({ fromDay: day })
    await deps.records.admin.noteStored({ day, bytes: storedBytes })
    notedAt = now
  }
}
