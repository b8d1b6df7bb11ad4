import type { NewAuditEntry } from '../audit-log-records.ts'
import type { AuditLogWrites } from './audit-log-writes.ts'
import type { Sql, Steps } from './sql.ts'

/** Whose nonces those are that were handed out here: no wallet is called that. */
export const OURS = ''

/** Nonces of wallets. Each function runs inside the caller's transaction. */
export function prepareNonceWrites(db: Sql, audit: AuditLogWrites) {
  const insert = db.prepare<[string, string, number]>(
    'INSERT INTO nonces (account, nonce, until) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const redeem = db.prepare<[string, string, number]>(
    'DELETE FROM nonces WHERE account = ? AND nonce = ? AND until > ?',
  )
  const removeExpired = db.prepare<[number, number]>(
    `DELETE FROM nonces WHERE (account, nonce) IN
       (SELECT account, nonce FROM nonces WHERE until <= ? ORDER BY until LIMIT ?)`,
  )

  return {
    *use({ account, nonce, until }: { account: string; nonce: string; until: number }): Steps<boolean> {
      return (yield* insert.run(account, nonce, until)).changes === 1
    },

    *issue({ nonce, until }: { nonce: string; until: number }): Steps<void> {
      yield* insert.run(OURS, nonce, until)
    },

    *redeem(request: { nonce: string; now: number; audit?: NewAuditEntry | undefined }): Steps<boolean> {
      if ((yield* redeem.run(OURS, request.nonce, request.now)).changes !== 1) return false
      yield* audit.appendIf(request.audit)
      return true
    },

    *expire({ now, limit }: { now: number; limit: number }): Steps<number> {
      return (yield* removeExpired.run(now, limit)).changes
    },
  }
}
