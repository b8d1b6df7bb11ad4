import type { CallerLimits, SetLimitsRequest } from '../limit-records.ts'
import type { AuditLogWrites } from './audit-log-writes.ts'
import { prepareLimitReads } from './limit-reads.ts'
import type { Sql, Steps } from './sql.ts'

/** Limits of single callers. Runs inside the caller's transaction. */
export function prepareLimitWrites(db: Sql, audit: AuditLogWrites) {
  const { limitsOf } = prepareLimitReads(db)
  const set = db.prepare<[string, number | null, number | null]>(
    `INSERT INTO caller_limits (principal, daily_bytes, stored_bytes) VALUES (?, ?, ?)
     ON CONFLICT (principal) DO UPDATE SET daily_bytes = excluded.daily_bytes, stored_bytes = excluded.stored_bytes`,
  )
  const remove = db.prepare<[string]>('DELETE FROM caller_limits WHERE principal = ?')

  return {
    *set({ principal, dailyBytes, storedBytes, now, by }: SetLimitsRequest): Steps<CallerLimits> {
      const before = yield* limitsOf(principal, now)
      const daily = dailyBytes === undefined ? before.dailyBytes : dailyBytes
      const stored = storedBytes === undefined ? before.storedBytes : storedBytes
      if (daily === null && stored === null) yield* remove.run(principal)
      else yield* set.run(principal, daily, stored)
      const detail = { dailyBytes: daily, storedBytes: stored }
      yield* audit.append({ at: now, actor: by, action: 'limits.set', subject: principal, detail })
      return { ...before, ...detail }
    },
  }
}
