import type { Revocation, ShownToken, TokenRecord, TokenStatus } from '../record-store.ts'
import type { Sql, Steps } from './sql.ts'

interface TokenRow extends Ends {
  readonly jti: string
  readonly sub: string
  readonly email: string
  readonly label: string
  readonly scopes: string
  readonly quota_mb: number
  readonly issued_at: number
  readonly expires_at: number
  readonly last_used_at: number | null
}

/** How a token was revoked: by itself, and with all tokens of its user. */
interface Ends {
  readonly revoked_at: number | null
  readonly keeps_links: number | null
  readonly user_revoked_at: number | null
  readonly user_keeps_links: number | null
}

const OF_USER = 'FROM user_revocations AS u WHERE u.sub = tokens.sub AND u.revoked_at > tokens.issued_at'
const ENDS = `(SELECT MIN(u.revoked_at) ${OF_USER}) AS user_revoked_at, (SELECT MIN(u.keeps_links) ${OF_USER}) AS user_keeps_links`

/** Reads of tokens and revocations. */
export function prepareTokenReads(db: Sql) {
  // In one statement, since it is asked once a second for each token in use.
  const status = db.prepare<{ jti: string; sub: string; issuedAt: number }, Ends & { readonly sub: string | null }>(
    `SELECT ${ofToken('sub')}, ${ofToken('revoked_at')}, ${ofToken('keeps_links')},
       (SELECT MIN(revoked_at) FROM user_revocations WHERE sub = :sub AND revoked_at > :issuedAt) AS user_revoked_at,
       (SELECT MIN(keeps_links) FROM user_revocations WHERE sub = :sub AND revoked_at > :issuedAt) AS user_keeps_links`,
  )
  const ends = db.prepare<[string], Ends>(`SELECT revoked_at, keeps_links, ${ENDS} FROM tokens WHERE jti = ?`)
  const tokens = db.prepare<[string], TokenRow>(
    `SELECT tokens.*, ${ENDS} FROM tokens WHERE sub = ? ORDER BY issued_at DESC, jti`,
  )

  return {
    *status(shown: ShownToken): Steps<TokenStatus> {
      const row = yield* status.get({ jti: shown.jti, sub: shown.sub, issuedAt: shown.issuedAt })
      if (row === undefined) return { isKnown: false, revocation: undefined }
      // A token that was revoked before anybody showed it has no user yet.
      return { isKnown: row.sub !== null && row.sub !== '', revocation: revocationOf(row) }
    },

    *revocation(jti: string): Steps<Revocation | undefined> {
      const row = yield* ends.get(jti)
      return row && revocationOf(row)
    },

    *list({ sub }: { sub: string }): Steps<readonly TokenRecord[]> {
      return (yield* tokens.all(sub)).map(tokenFromRow)
    },
  }
}

/** The first of both tells when; one that ends the links is enough to end them. */
function revocationOf(row: Ends): Revocation | undefined {
  const times = [row.revoked_at, row.user_revoked_at].filter((time) => time !== null)
  if (times.length === 0) return undefined
  const isKept =
    (row.revoked_at === null || row.keeps_links === 1) && (row.user_revoked_at === null || row.user_keeps_links === 1)
  return { revokedAt: Math.min(...times), keepsLinks: isKept }
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
    revokedAt: revocationOf(row)?.revokedAt ?? null,
  }
}

/** A column of the token of `:jti`; NULL for a token that is not recorded. */
function ofToken(column: string): string {
  return `(SELECT ${column} FROM tokens WHERE jti = :jti) AS ${column}`
}
