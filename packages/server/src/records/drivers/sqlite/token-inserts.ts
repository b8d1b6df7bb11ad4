import type { TokenRecord } from '../../record-store.ts'
import type { Connection } from './connection.ts'

/** What every way of getting a token writes: the hour's counts, and the token itself. */
export function prepareTokenInserts(db: Connection) {
  const counted = db
    .prepare<[string, number], number>('SELECT count FROM signups WHERE address = ? AND hour = ?')
    .pluck()
  const count = db.prepare<[string, number]>(
    `INSERT INTO signups (address, hour, count) VALUES (?, ?, 1)
     ON CONFLICT (address, hour) DO UPDATE SET count = count + 1`,
  )
  const forgetOldCounts = db.prepare<[number]>('DELETE FROM signups WHERE hour < ?')
  const giveBack = db.prepare<[string, number]>(
    'UPDATE signups SET count = count - 1 WHERE address = ? AND hour = ? AND count > 0',
  )
  const insert = db.prepare(
    `INSERT INTO tokens (jti, sub, email, label, scopes, quota_mb, issued_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )

  return {
    countOf: (address: string, hour: number): number => counted.get(address, hour) ?? 0,

    count(address: string, hour: number): void {
      if (counted.get(address, hour) === undefined) forgetOldCounts.run(hour - 1)
      count.run(address, hour)
    },

    giveBack(address: string, hour: number): void {
      giveBack.run(address, hour)
    },

    insertToken(token: TokenRecord): void {
      const scopes = token.scopes.join(' ')
      insert.run(token.jti, token.sub, token.email, token.label, scopes, token.quotaMb, token.issuedAt, token.expiresAt)
    },
  }
}
