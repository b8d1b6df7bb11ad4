import type {
  LeaseRow,
  ListAllFilesRequest,
  ListPrincipalsRequest,
  PrincipalTotals,
  RunningUpload,
  ServiceTotals,
} from '../admin-records.ts'
import { ERASED_ADDRESS } from '../erasure-records.ts'
import type { FileRecord, UsageDay } from '../record-store.ts'
import { FILE_COLUMNS, FILE_ROWS, type FileRow, fileFromRow } from './file-row.ts'
import type { Sql, Steps } from './sql.ts'

const ORDERS = {
  principal: 'principal',
  stored: '"storedBytes" DESC, principal',
  today: '"todayBytes" DESC, principal',
} as const

/** Of the tokens of users: those of wallets come and go with their sign-ins. */
const OF_USERS = `FROM tokens WHERE sub <> '' AND sub NOT LIKE 'eip155:%'`

/** Reads over all principals. */
export function prepareAdminReads(db: Sql) {
  const stored = db.prepare<[], { bytes: number | null; files: number | null; principals: number }>(
    `SELECT SUM(bytes) AS bytes, SUM(files) AS files, COUNT(*) AS principals FROM (
       SELECT SUM(stored_bytes) AS bytes, SUM(stored_files) AS files FROM usage WHERE stored_files > 0 GROUP BY principal
     ) AS principals`,
  )
  const running = db.prepare<[], { count: number; bytes: number | null }>(
    'SELECT COUNT(*) AS count, SUM(bytes) AS bytes FROM reservations',
  )
  const days = db.prepare<[string], UsageDay>(
    `SELECT day AS date, SUM(bytes) AS bytes, SUM(files) AS files FROM usage
     WHERE day >= ? AND files > 0 GROUP BY day ORDER BY day`,
  )
  const storedDays = db.prepare<[string], { date: string; bytes: number }>(
    'SELECT day AS date, bytes FROM stored_days WHERE day >= ? ORDER BY day',
  )
  const principalsBy = (order: keyof typeof ORDERS) =>
    db.prepare<[Record<string, string | number | null>], PrincipalTotals>(
      `SELECT principal, SUM(stored_bytes) AS "storedBytes", SUM(stored_files) AS "storedFiles",
         SUM(CASE WHEN day = :today THEN bytes ELSE 0 END) AS "todayBytes",
         SUM(CASE WHEN day = :today THEN files ELSE 0 END) AS "todayFiles",
         MAX(CASE WHEN files > 0 THEN day END) AS "lastDay", MAX(seen_at) AS "seenAt", MAX(email) AS email,
         MAX(daily_limit) AS "dailyLimit", MAX(stored_limit) AS "storedLimit"
       FROM (
         SELECT principal, day, bytes, files, stored_bytes, stored_files, CAST(NULL AS BIGINT) AS seen_at, CAST(NULL AS TEXT) AS email,
           CAST(NULL AS BIGINT) AS daily_limit, CAST(NULL AS BIGINT) AS stored_limit FROM usage
         UNION ALL SELECT 'user:' || sub, '', 0, 0, 0, 0, last_used_at, email, NULL, NULL ${OF_USERS}
         UNION ALL SELECT principal, '', 0, 0, 0, 0, NULL, NULL, daily_bytes, stored_bytes FROM caller_limits
       ) AS seen
       WHERE principal <> '${ERASED_ADDRESS}' AND (CAST(:search AS TEXT) IS NULL OR ${db.dialect.includesFolded('principal', ':search')})
         AND (CAST(:principal AS TEXT) IS NULL OR principal = :principal)
       GROUP BY principal ORDER BY ${ORDERS[order]} LIMIT :limit OFFSET :offset`,
    )
  const principals = {
    principal: principalsBy('principal'),
    stored: principalsBy('stored'),
    today: principalsBy('today'),
  }
  // By sequence, of which the caller bounds how many are looked at.
  const files = db.prepare<[Record<string, string | number | null>], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS}
     WHERE sequence < :before AND sequence >= :from AND ended_at IS NULL AND expires_at > :now
       AND (CAST(:search AS TEXT) IS NULL OR ${db.dialect.includesFolded("coalesce(filename, '')", ':search')}
         OR ${db.dialect.includesFolded('cid', ':search')} OR ${db.dialect.includesFolded("coalesce(owner, '')", ':search')}
         OR ${db.dialect.includesFolded('principal', ':search')})
     ORDER BY sequence DESC LIMIT :limit`,
  )
  const uploads = db.prepare<[{ principal: string | null; limit: number }], RunningUpload>(
    `SELECT id, principal, instance, day, bytes, lease_until AS "leaseUntil" FROM reservations
     WHERE (CAST(:principal AS TEXT) IS NULL OR principal = :principal) ORDER BY lease_until, id LIMIT :limit`,
  )
  const leases = db.prepare<[], LeaseRow>('SELECT name, holder, "until", fence FROM leases ORDER BY name')
  const removals = db.prepare<[], { waiting: number; orphans: number | null }>(
    'SELECT COUNT(*) AS waiting, SUM(is_orphan) AS orphans FROM discards',
  )

  return {
    *totals({ fromDay }: { fromDay: string }): Steps<ServiceTotals> {
      const held = yield* stored.get()
      const inFlight = yield* running.get()
      return {
        storedBytes: held?.bytes ?? 0,
        storedFiles: held?.files ?? 0,
        principals: held?.principals ?? 0,
        runningUploads: inFlight?.count ?? 0,
        reservedBytes: inFlight?.bytes ?? 0,
        days: yield* days.all(fromDay),
        stored: yield* storedDays.all(fromDay),
      }
    },

    principals: ({ order, search = '', principal = '', ...request }: ListPrincipalsRequest): Steps<PrincipalTotals[]> =>
      principals[order].all({ ...request, search: search || null, principal: principal || null }),

    *files({ search = '', ...request }: ListAllFilesRequest): Steps<FileRecord[]> {
      return (yield* files.all({ ...request, search: search || null })).map(fileFromRow)
    },

    uploads: ({ limit, principal = '' }: { limit: number; principal?: string | undefined }): Steps<RunningUpload[]> =>
      uploads.all({ limit, principal: principal || null }),

    leases: (): Steps<LeaseRow[]> => leases.all(),

    *removals(): Steps<{ readonly waiting: number; readonly orphans: number }> {
      const row = yield* removals.get()
      return { waiting: row?.waiting ?? 0, orphans: row?.orphans ?? 0 }
    },
  }
}
