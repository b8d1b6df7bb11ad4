import type { SessionOpening } from '../session-records.ts'
import type { Sql, Steps } from './sql.ts'

type Row = [
  id: string,
  digest: string,
  via: string,
  sub: string,
  email: string | null,
  scopes: string,
  quotaMb: number | null,
  jti: string | null,
  keyId: string,
  issuedAt: number,
  createdAt: number,
  lastUsedAt: number,
  expiresAt: number,
  endsAt: number,
]

/** What every way of signing in writes. */
export function prepareSessionInserts(db: Sql) {
  const insert = db.prepare<Row>(
    `INSERT INTO sessions (id, digest, via, sub, email, scopes, quota_mb, jti, key_id, issued_at, created_at, last_used_at,
       expires_at, ends_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const remove = db.prepare<[string]>('DELETE FROM sessions WHERE digest = ?')
  const countOfUser = db.prepare<[string], number>('SELECT COUNT(*) FROM sessions WHERE sub = ?').pluck()
  const removeFirst = db.prepare<[string, number]>(
    'DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE sub = ? ORDER BY expires_at, id LIMIT ?)',
  )

  return {
    removeSession: (digest: string): Steps<unknown> => remove.run(digest),

    *insertSession({ session, digest, replaces, mostOfUser }: SessionOpening): Steps<void> {
      const { id, via, sub, email, quotaMb, jti, keyId, issuedAt, createdAt, lastUsedAt, expiresAt, endsAt } = session
      if (replaces !== undefined) yield* remove.run(replaces)
      const surplus = ((yield* countOfUser.get(sub)) ?? 0) + 1 - mostOfUser
      if (surplus > 0) yield* removeFirst.run(sub, surplus)
      const scopes = session.scopes.join(' ')
      const times = [issuedAt, createdAt, lastUsedAt, expiresAt, endsAt] as const
      yield* insert.run(id, digest, via, sub, email, scopes, quotaMb, jti, keyId, ...times)
    },
  }
}
