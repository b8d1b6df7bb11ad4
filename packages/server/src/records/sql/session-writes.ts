import { MAX_SHARE_SECONDS } from '@lade/core/wire'
import type { CountedSignup, SessionOpened, SessionOpening, SessionUse } from '../session-records.ts'
import { prepareSessionInserts } from './session-inserts.ts'
import { forEach, type Sql, type Steps } from './sql.ts'
import { prepareTokenInserts } from './token-inserts.ts'

interface OpenRequest {
  readonly opening: SessionOpening
  readonly signup?: CountedSignup | undefined
}

/** As long as the links of a session may last, it is remembered that they have ended. */
const LINK_MS = MAX_SHARE_SECONDS * 1000

/** Sessions of browsers. Each function runs inside the caller's transaction. */
export function prepareSessionWrites(db: Sql) {
  const { insertSession, removeSession } = prepareSessionInserts(db)
  const { countOf, count } = prepareTokenInserts(db)
  const owned = db.prepare<[string, string], { jti: string | null }>(
    'SELECT jti FROM sessions WHERE id = ? AND sub = ?',
  )
  const remove = db.prepare<[string]>('DELETE FROM sessions WHERE id = ?')
  // A link names who made it, which is a token elsewhere.
  const endLinks = db.prepare<[string, number, number]>(
    `INSERT INTO tokens (jti, sub, email, label, scopes, quota_mb, issued_at, expires_at, revoked_at, forget_at)
     VALUES (?, '', '', '', '', 0, 0, 0, ?, ?) ON CONFLICT (jti) DO NOTHING`,
  )
  const touch = db.prepare<[number, number, string]>(
    `UPDATE sessions SET last_used_at = ${db.dialect.greatest('last_used_at', '?')},
       expires_at = ${db.dialect.greatest('expires_at', '?')} WHERE id = ?`,
  )
  const expire = db.prepare<[number, number]>(
    'DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)',
  )

  return {
    *open({ opening, signup }: OpenRequest): Steps<SessionOpened> {
      if (signup !== undefined) {
        const used = yield* countOf(signup.address, signup.hour)
        if (used >= signup.limit) return { outcome: 'limited', used }
        yield* count(signup.address, signup.hour)
      }
      yield* insertSession(opening)
      return { outcome: 'opened' }
    },

    *signOut(digest: string): Steps<void> {
      yield* removeSession(digest)
    },

    *end({ id, sub, now }: { id: string; sub: string; now: number }): Steps<boolean> {
      const row = yield* owned.get(id, sub)
      if (row === undefined) return false
      yield* remove.run(id)
      if (row.jti === null) yield* endLinks.run(id, now, now + LINK_MS)
      return true
    },

    touch: (uses: readonly SessionUse[]): Steps<void> =>
      forEach(uses, ({ id, usedAt, expiresAt }) => touch.run(usedAt, expiresAt, id)),

    *expire({ now, limit }: { now: number; limit: number }): Steps<number> {
      return (yield* expire.run(now, limit)).changes
    },
  }
}
