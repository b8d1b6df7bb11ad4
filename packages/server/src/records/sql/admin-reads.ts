import type { ServiceTotals } from '../admin-records.ts'
import type { UsageDay } from '../record-store.ts'
import type { Sql, Steps } from './sql.ts'

/** Reads over all principals. */
export function prepareAdminReads(db: Sql) {
  const stored = db.prepare<[], { bytes: number | null; files: number | null; principals: number }>(
    `SELECT SUM(bytes) AS bytes, SUM(files) AS files, COUNT(*) AS principals FROM (
       SELECT SUM(stored_bytes) AS bytes, SUM(stored_files) AS files FROM usage WHERE stored_files > 0 GROUP BY principal
     ) AS principals`,
  )
  const uploads = db.prepare<[], { count: number; bytes: number | null }>(
    'SELECT COUNT(*) AS count, SUM(bytes) AS bytes FROM reservations',
  )
  const days = db.prepare<[string], UsageDay>(
    `SELECT day AS date, SUM(bytes) AS bytes, SUM(files) AS files FROM usage
     WHERE day >= ? AND files > 0 GROUP BY day ORDER BY day`,
  )

  return {
    *totals({ fromDay }: { fromDay: string }): Steps<ServiceTotals> {
      const held = yield* stored.get()
      const inFlight = yield* uploads.get()
      return {
        storedBytes: held?.bytes ?? 0,
        storedFiles: held?.files ?? 0,
        principals: held?.principals ?? 0,
        runningUploads: inFlight?.count ?? 0,
        reservedBytes: inFlight?.bytes ?? 0,
        days: yield* days.all(fromDay),
      }
    },
  }
}
