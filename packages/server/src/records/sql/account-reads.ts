import type { TokenRecord, Usage, UsageDay, UsageDrift } from '../record-store.ts'
import type { Sql, Steps } from './sql.ts'

interface TokenRow {
  readonly jti: string
  readonly sub: string
  readonly email: string
  readonly label: string
  readonly scopes: string
  readonly quota_mb: number
  readonly issued_at: number
  readonly expires_at: number
  readonly last_used_at: number | null
  readonly revoked_at: number | null
}

interface UsageRequest {
  readonly principal: string
  readonly fromDay: string
  readonly today: string
  readonly now: number
}

/** Reads of usage, tokens, instances and discards. */
export function prepareAccountReads(db: Sql) {
  const days = db.prepare<[string, string, string], UsageDay>(
    'SELECT day AS date, bytes, files FROM usage WHERE principal = ? AND day BETWEEN ? AND ? ORDER BY day',
  )
  const reserved = db
    .prepare<[string, string], number | null>('SELECT SUM(bytes) FROM reservations WHERE principal = ? AND day = ?')
    .pluck()
  const stored = db.prepare<[string, number], { bytes: number | null; files: number }>(
    // A composed file was charged with its parts, so it is its object that says how big it is.
    `SELECT SUM(CASE WHEN charged_bytes > 0 THEN charged_bytes
         ELSE (SELECT size_bytes FROM objects WHERE objects.id = files.object) END) AS bytes, COUNT(*) AS files FROM files
     WHERE principal = ? AND ended_at IS NULL AND expires_at > ?`,
  )
  const drift = db.prepare<[], UsageDrift>(
    `SELECT principal, day, SUM(counter) AS "counterBytes", SUM(charged) AS "chargedBytes" FROM (
       SELECT principal, day, bytes AS counter, 0 AS charged FROM usage
       UNION ALL
       SELECT principal, charged_day, 0, charged_bytes FROM files
     ) AS charges GROUP BY principal, day HAVING SUM(counter) <> SUM(charged) ORDER BY principal, day`,
  )
  const revokedAt = db.prepare<[string], number | null>('SELECT revoked_at FROM tokens WHERE jti = ?').pluck()
  const tokens = db.prepare<[string], TokenRow>('SELECT * FROM tokens WHERE sub = ? ORDER BY issued_at DESC, jti')
  const instances = db.prepare<[], string>('SELECT id FROM instances ORDER BY id').pluck()
  const discards = db
    .prepare<[string, number], string>(
      'SELECT sha256 FROM discards WHERE instance IS NULL OR instance = ? ORDER BY created_at, sha256 LIMIT ?',
    )
    .pluck()

  return {
    // In one snapshot, so that a charge is never seen both as reserved and as charged.
    *usage({ principal, fromDay, today, now }: UsageRequest): Steps<Usage> {
      const held = yield* stored.get(principal, now)
      return {
        days: yield* days.all(principal, fromDay, today),
        reservedBytes: (yield* reserved.get(principal, today)) ?? 0,
        stored: { bytes: held?.bytes ?? 0, files: held?.files ?? 0 },
      }
    },

    audit: (): Steps<readonly UsageDrift[]> => drift.all(),

    *revokedAt(jti: string): Steps<number | undefined> {
      return (yield* revokedAt.get(jti)) ?? undefined
    },

    *tokens(sub: string): Steps<readonly TokenRecord[]> {
      return (yield* tokens.all(sub)).map(tokenFromRow)
    },

    instances: (): Steps<readonly string[]> => instances.all(),
    pendingDiscards: (instanceId: string, limit: number): Steps<readonly string[]> => discards.all(instanceId, limit),
  }
}

function tokenFromRow(row: TokenRow): TokenRecord {
  return {
    jti: row.jti,
    sub: row.sub,
    email: row.email,
    label: row.label,
    scopes: row.scopes === '' ? [] : row.scopes.split(' '),
    quotaMb: row.quota_mb,
    issuedAt: row.issued_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  }
}
