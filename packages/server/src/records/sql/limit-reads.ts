import { BYTES_PER_MB } from '@lade/core/wire'
import type { CallerLimits } from '../limit-records.ts'
import type { Sql, Steps } from './sql.ts'

interface LimitsRow {
  readonly dailyBytes: number | null
  readonly storedBytes: number | null
  readonly quotaMb: number | null
}

const USER = 'user:'

/** The limits of single callers: what an operator has set, and what the tokens of a user have. */
export function prepareLimitReads(db: Sql) {
  // A token that is revoked or over raises no limit.
  const limits = db.prepare<{ principal: string; sub: string; now: number }, LimitsRow>(
    `SELECT (SELECT daily_bytes FROM caller_limits WHERE principal = :principal) AS "dailyBytes",
       (SELECT stored_bytes FROM caller_limits WHERE principal = :principal) AS "storedBytes",
       (SELECT quota_mb FROM tokens WHERE sub = :sub AND expires_at > :now AND revoked_at IS NULL
         AND NOT EXISTS (SELECT 1 FROM user_revocations AS u WHERE u.sub = :sub AND u.revoked_at > tokens.issued_at)
         ORDER BY quota_mb DESC LIMIT 1) AS "quotaMb"`,
  )

  return {
    *limitsOf(principal: string, now: number): Steps<CallerLimits> {
      const sub = principal.startsWith(USER) ? principal.slice(USER.length) : ''
      const row = yield* limits.get({ principal, sub, now })
      return {
        dailyBytes: row?.dailyBytes ?? null,
        storedBytes: row?.storedBytes ?? null,
        tokensBytes: (row?.quotaMb ?? 0) * BYTES_PER_MB,
      }
    },
  }
}
