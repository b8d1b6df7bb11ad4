import { BYTES_PER_MB } from '@lade/core/wire'
import type { CallerLimits } from '../limit-records.ts'
import type { Sql, Steps } from './sql.ts'

interface LimitsRow {
  readonly dailyBytes: number | null
  readonly storedBytes: number | null
  /** Of a token; null in the row of what an operator has set. */
  readonly quotaMb: number | null
}

const USER = 'user:'

/** The limits of single callers: what an operator has set, and what the tokens of a user have. */
export function prepareLimitReads(db: Sql) {
  // A token that is revoked or over raises no limit. Sorting few rows costs SQLite ten times as much as reading them.
  const limits = db.prepare<{ principal: string; sub: string; aboveMb: number; now: number }, LimitsRow>(
    `SELECT daily_bytes AS "dailyBytes", stored_bytes AS "storedBytes", CAST(NULL AS BIGINT) AS "quotaMb"
     FROM caller_limits WHERE principal = :principal
     UNION ALL
     SELECT NULL, NULL, quota_mb FROM tokens
     WHERE sub = :sub AND quota_mb > :aboveMb AND expires_at > :now AND revoked_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM user_revocations AS u WHERE u.sub = tokens.sub AND u.revoked_at > tokens.issued_at)`,
  )

  return {
    /**
     * What limits a caller.
     *
     * @param aboveBytes - tokens with quotas up to this are not looked at.
     */
    *limitsOf(principal: string, now: number, aboveBytes = 0): Steps<CallerLimits> {
      const sub = principal.startsWith(USER) ? principal.slice(USER.length) : ''
      const aboveMb = Math.floor(aboveBytes / BYTES_PER_MB)
      const rows = yield* limits.all({ principal, sub, aboveMb, now })
      const set = rows.find(({ quotaMb }) => quotaMb === null)
      const largestMb = rows.reduce((most, { quotaMb }) => Math.max(most, quotaMb ?? 0), 0)
      return {
        dailyBytes: set?.dailyBytes ?? null,
        storedBytes: set?.storedBytes ?? null,
        tokensBytes: largestMb * BYTES_PER_MB,
      }
    },
  }
}
