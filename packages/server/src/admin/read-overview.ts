import { ADMIN_TREND_DAYS, type AdminOverview } from '@lade/core/wire'
import { utcDayBefore } from '../quotas/utc-day.ts'
import type { RecordStore } from '../records/record-store.ts'

/** What the service stores, and what was staged in the last days. */
export async function readOverview(
  records: Pick<RecordStore, 'admin'>,
  { version, now }: { readonly version: string; readonly now: number },
): Promise<AdminOverview> {
  const dates = Array.from({ length: ADMIN_TREND_DAYS }, (_, index) => utcDayBefore(now, ADMIN_TREND_DAYS - 1 - index))
  const totals = await records.admin.totals({ fromDay: utcDayBefore(now, ADMIN_TREND_DAYS - 1) })
  return {
    version,
    at: new Date(now).toISOString(),
    stored: { bytes: totals.storedBytes, files: totals.storedFiles, principals: totals.principals },
    uploads: { running: totals.runningUploads, reservedBytes: totals.reservedBytes },
    days: dates.map((date) => ({
      ...(totals.days.find((day) => day.date === date) ?? { date, bytes: 0, files: 0 }),
      storedBytes: totals.stored.find((day) => day.date === date)?.bytes ?? null,
    })),
  }
}
