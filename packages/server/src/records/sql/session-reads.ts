import type { SessionRecord, SessionVia } from '../session-records.ts'
import type { Sql, Steps } from './sql.ts'

interface SessionRow {
  readonly id: string
  readonly via: SessionVia
  readonly sub: string
  readonly email: string | null
  readonly scopes: string
  readonly quota_mb: number | null
  readonly jti: string | null
  readonly key_id: string
  readonly issued_at: number
  readonly created_at: number
  readonly last_used_at: number
  readonly expires_at: number
  readonly ends_at: number
}

const COLUMNS = `s.id, s.via, s.sub, s.email, s.scopes, s.quota_mb, s.jti, s.key_id, s.issued_at, s.created_at, s.last_used_at,
  s.expires_at, s.ends_at`
const LIVE = `s.expires_at > :now
  AND NOT EXISTS (SELECT 1 FROM tokens AS t WHERE t.jti = s.jti AND t.revoked_at IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM user_revocations AS u WHERE u.sub = s.sub AND u.revoked_at > s.issued_at)`

/** Reads of sessions. */
export function prepareSessionReads(db: Sql) {
  const find = db.prepare<{ digest: string; now: number }, SessionRow>(
    `SELECT ${COLUMNS} FROM sessions AS s WHERE s.digest = :digest AND ${LIVE}`,
  )
  const list = db.prepare<{ sub: string; now: number }, SessionRow>(
    `SELECT ${COLUMNS} FROM sessions AS s WHERE s.sub = :sub AND ${LIVE} ORDER BY s.last_used_at DESC, s.id`,
  )
  return {
    *find({ digest, now }: { digest: string; now: number }): Steps<SessionRecord | undefined> {
      const row = yield* find.get({ digest, now })
      return row && sessionFromRow(row)
    },

    *list({ sub, now }: { sub: string; now: number }): Steps<readonly SessionRecord[]> {
      return (yield* list.all({ sub, now })).map(sessionFromRow)
    },
  }
}

function sessionFromRow(row: SessionRow): SessionRecord {
  return {
    id: row.id,
    via: row.via,
    sub: row.sub,
    email: row.email,
    scopes: row.scopes === '' ? [] : row.scopes.split(' '),
    quotaMb: row.quota_mb,
    jti: row.jti,
    keyId: row.key_id,
    issuedAt: row.issued_at,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
    endsAt: row.ends_at,
  }
}
