import { MAX_SHARE_SECONDS } from '@lade/core/wire'
import type { TokenRecord } from '../record-store.ts'
import { forEach, type Sql, type Steps } from './sql.ts'
import { prepareTokenInserts } from './token-inserts.ts'

interface SignUpRequest {
  readonly token: TokenRecord
  readonly address: string
  readonly hour: number
  readonly limit: number
}

type SignUpOutcome = { readonly outcome: 'issued' } | { readonly outcome: 'limited'; readonly used: number }

interface RevokeAnyRequest {
  readonly jti: string
  readonly now: number
  readonly keepsLinks: boolean
}

interface RevokeRequest extends RevokeAnyRequest {
  readonly sub: string
}

interface RevokeUserRequest {
  readonly sub: string
  readonly now: number
  readonly keepsLinks: boolean
}

/** As long as the links of a token may last, its revocation is remembered. */
const LINK_MS = MAX_SHARE_SECONDS * 1000

/** Tokens and signups. Each function runs inside the caller's transaction. */
export function prepareTokenWrites(db: Sql) {
  const { countOf, count, insertToken } = prepareTokenInserts(db)
  const owned = db.prepare<[string, string], { revoked_at: number | null }>(
    'SELECT revoked_at FROM tokens WHERE jti = ? AND sub = ?',
  )
  const any = db.prepare<[string], { revoked_at: number | null }>('SELECT revoked_at FROM tokens WHERE jti = ?')
  const revoke = db.prepare<[number, number, number, string]>(
    'UPDATE tokens SET revoked_at = ?, keeps_links = ?, forget_at = forget_at + ? WHERE jti = ?',
  )
  // Whose it is becomes known when somebody shows it.
  const insertRevoked = db.prepare<[string, number, number]>(
    `INSERT INTO tokens (jti, sub, email, label, scopes, quota_mb, issued_at, expires_at, revoked_at, keeps_links)
     VALUES (?, '', '', '', '', 0, 0, 0, ?, ?)`,
  )
  const record = db.prepare<[string, string, string, string, string, number, number, number, number | null]>(
    `INSERT INTO tokens (jti, sub, email, label, scopes, quota_mb, issued_at, expires_at, forget_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (jti) DO UPDATE SET sub = excluded.sub, email = excluded.email, label = excluded.label,
       scopes = excluded.scopes, quota_mb = excluded.quota_mb, issued_at = excluded.issued_at, expires_at = excluded.expires_at
     WHERE tokens.sub = ''`,
  )
  const liveOfUser = db
    .prepare<[string, number, number, string], number>(
      `SELECT COUNT(*) FROM tokens WHERE sub = ? AND issued_at < ? AND expires_at > ? AND revoked_at IS NULL
         AND NOT EXISTS (SELECT 1 FROM user_revocations AS u WHERE u.sub = ? AND u.revoked_at > tokens.issued_at)`,
    )
    .pluck()
  const revokeUser = db.prepare<[string, number, number]>(
    `INSERT INTO user_revocations (sub, revoked_at, keeps_links) VALUES (?, ?, ?)
     ON CONFLICT (sub, revoked_at) DO UPDATE SET
       keeps_links = ${db.dialect.least('user_revocations.keeps_links', 'excluded.keeps_links')}`,
  )
  // Those of sessions that no token was shown for; others end with their tokens.
  const endLinksOfSessions = db.prepare<[number, number, string]>(
    `INSERT INTO tokens (jti, sub, email, label, scopes, quota_mb, issued_at, expires_at, revoked_at, forget_at)
     SELECT id, '', '', '', '', 0, 0, 0, ${db.dialect.whole('?')}, ${db.dialect.whole('?')} FROM sessions WHERE sub = ? AND jti IS NULL
     ON CONFLICT (jti) DO NOTHING`,
  )
  const endSessions = db.prepare<[string, number]>('DELETE FROM sessions WHERE sub = ? AND issued_at < ?')
  const forget = db.prepare<[number, number]>(
    'DELETE FROM tokens WHERE jti IN (SELECT jti FROM tokens WHERE forget_at <= ? ORDER BY forget_at LIMIT ?)',
  )
  const endLinks = db.prepare<[string]>('UPDATE tokens SET keeps_links = 0 WHERE jti = ? AND keeps_links = 1')
  const touch = db.prepare<[number, string]>(
    `UPDATE tokens SET last_used_at = ${db.dialect.greatest('coalesce(last_used_at, 0)', '?')} WHERE jti = ?`,
  )

  function* revokeOne(
    row: { readonly revoked_at: number | null },
    { jti, now, keepsLinks }: RevokeAnyRequest,
  ): Steps<{ readonly revokedAt: number }> {
    if (row.revoked_at !== null) {
      if (!keepsLinks) yield* endLinks.run(jti)
      return { revokedAt: row.revoked_at }
    }
    yield* revoke.run(now, keepsLinks ? 1 : 0, LINK_MS, jti)
    return { revokedAt: now }
  }

  return {
    *signUp(request: SignUpRequest): Steps<SignUpOutcome> {
      const { token, address, hour } = request
      const used = yield* countOf(address, hour)
      if (used >= request.limit) return { outcome: 'limited', used }
      yield* count(address, hour)
      yield* insertToken(token)
      return { outcome: 'issued' }
    },

    *revoke(request: RevokeRequest): Steps<{ readonly revokedAt: number } | undefined> {
      const row = yield* owned.get(request.jti, request.sub)
      return row && (yield* revokeOne(row, request))
    },

    *revokeAny(request: RevokeAnyRequest): Steps<{ readonly revokedAt: number }> {
      const { jti, now, keepsLinks } = request
      const row = yield* any.get(jti)
      if (row !== undefined) return yield* revokeOne(row, request)
      yield* insertRevoked.run(jti, now, keepsLinks ? 1 : 0)
      return { revokedAt: now }
    },

    *revokeUser({ sub, now, keepsLinks }: RevokeUserRequest): Steps<{ readonly tokens: number }> {
      const tokens = (yield* liveOfUser.get(sub, now, now, sub)) ?? 0
      yield* revokeUser.run(sub, now, keepsLinks ? 1 : 0)
      if (!keepsLinks) yield* endLinksOfSessions.run(now, now + LINK_MS, sub)
      yield* endSessions.run(sub, now)
      return { tokens }
    },

    *record({ token, forgetAt }: { token: TokenRecord; forgetAt: number | null }): Steps<void> {
      const { jti, sub, email, label, quotaMb, issuedAt, expiresAt } = token
      const scopes = token.scopes.join(' ')
      yield* record.run(jti, sub, email, label, scopes, quotaMb, issuedAt, expiresAt, forgetAt)
    },

    *forget({ now, limit }: { now: number; limit: number }): Steps<number> {
      return (yield* forget.run(now, limit)).changes
    },

    touch: (uses: readonly { readonly jti: string; readonly usedAt: number }[]): Steps<void> =>
      forEach(uses, ({ jti, usedAt }) => touch.run(usedAt, jti)),
  }
}
