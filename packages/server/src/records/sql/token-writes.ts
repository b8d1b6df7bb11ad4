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

interface RevokeRequest {
  readonly jti: string
  readonly sub: string
  readonly now: number
  readonly keepsLinks: boolean
}

/** Tokens and signups. Each function runs inside the caller's transaction. */
export function prepareTokenWrites(db: Sql) {
  const { countOf, count, insertToken } = prepareTokenInserts(db)
  const owned = db.prepare<[string, string], { revoked_at: number | null }>(
    'SELECT revoked_at FROM tokens WHERE jti = ? AND sub = ?',
  )
  const revoke = db.prepare<[number, number, string]>('UPDATE tokens SET revoked_at = ?, keeps_links = ? WHERE jti = ?')
  const endLinks = db.prepare<[string]>('UPDATE tokens SET keeps_links = 0 WHERE jti = ? AND keeps_links = 1')
  const touch = db.prepare<[number, string]>(
    `UPDATE tokens SET last_used_at = ${db.dialect.greatest('coalesce(last_used_at, 0)', '?')} WHERE jti = ?`,
  )

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
      if (row === undefined) return undefined
      if (row.revoked_at !== null) {
        if (!request.keepsLinks) yield* endLinks.run(request.jti)
        return { revokedAt: row.revoked_at }
      }
      yield* revoke.run(request.now, request.keepsLinks ? 1 : 0, request.jti)
      return { revokedAt: request.now }
    },

    touch: (uses: readonly { readonly jti: string; readonly usedAt: number }[]): Steps<void> =>
      forEach(uses, ({ jti, usedAt }) => touch.run(usedAt, jti)),
  }
}
