import type { NewAuditEntry } from '../audit-log-records.ts'
import type { TokenRecord } from '../record-store.ts'
import type { AuditLogWrites } from './audit-log-writes.ts'
import type { Sql, Steps } from './sql.ts'

/** What every way of getting a token writes: the hour's counts, and the token itself. */
export function prepareTokenInserts(db: Sql, audit: AuditLogWrites) {
  const counted = db
    .prepare<[string, number], number>('SELECT count FROM signups WHERE address = ? AND hour = ?')
    .pluck()
  const count = db.prepare<[string, number]>(
    `INSERT INTO signups (address, hour, count) VALUES (?, ?, 1)
     ON CONFLICT (address, hour) DO UPDATE SET count = signups.count + 1`,
  )
  const forgetOldCounts = db.prepare<[number]>('DELETE FROM signups WHERE hour < ?')
  const giveBack = db.prepare<[string, number]>(
    'UPDATE signups SET count = count - 1 WHERE address = ? AND hour = ? AND count > 0',
  )
  const insert = db.prepare<[string, string, string, string, string, number, number, number]>(
    `INSERT INTO tokens (jti, sub, email, label, scopes, quota_mb, issued_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )

  return {
    *countOf(address: string, hour: number): Steps<number> {
      return (yield* counted.get(address, hour)) ?? 0
    },

    *count(address: string, hour: number): Steps<void> {
      if ((yield* counted.get(address, hour)) === undefined) yield* forgetOldCounts.run(hour - 1)
      yield* count.run(address, hour)
    },

    *giveBack(address: string, hour: number): Steps<void> {
      yield* giveBack.run(address, hour)
    },

    /** @param via - how it was got. */
    *insertToken(token: TokenRecord, via: 'signup' | 'code'): Steps<void> {
      const { jti, sub, email, label, quotaMb, issuedAt, expiresAt } = token
      yield* insert.run(jti, sub, email, label, token.scopes.join(' '), quotaMb, issuedAt, expiresAt)
      yield* audit.append(tokenEntry(token, { at: issuedAt, action: 'token.made', via }))
    },
  }
}

/** What the audit log says of a token that came to be known. */
export function tokenEntry(
  { jti, sub, scopes, quotaMb, expiresAt }: TokenRecord,
  { at, action, via }: { readonly at: number; readonly action: string; readonly via?: string },
): NewAuditEntry {
  const detail = {
    ...(via !== undefined && { via }),
    scopes: [...scopes],
    quotaMb,
    expiresAt: new Date(expiresAt).toISOString(),
  }
  return { at, actor: `user:${sub}`, action, subject: `token:${jti}`, detail }
}
