import type { TokenRecord } from '../../record-store.ts'
import type { Connection } from './connection.ts'
import { prepareTokenInserts } from './token-inserts.ts'

type SignUpOutcome = { readonly outcome: 'issued' } | { readonly outcome: 'limited'; readonly used: number }

/** Tokens and signups. Each function runs inside one transaction that the writer opens. */
export function prepareTokenWrites(db: Connection) {
  const { countOf, count, insertToken } = prepareTokenInserts(db)
  const owned = db.prepare<[string, string], { revoked_at: number | null }>(
    'SELECT revoked_at FROM tokens WHERE jti = ? AND sub = ?',
  )
  const revoke = db.prepare<[number, string]>('UPDATE tokens SET revoked_at = ? WHERE jti = ?')
  const touch = db.prepare<[number, string]>(
    'UPDATE tokens SET last_used_at = MAX(COALESCE(last_used_at, 0), ?) WHERE jti = ?',
  )

  return {
    signUp(request: { token: TokenRecord; address: string; hour: number; limit: number }): SignUpOutcome {
      const { token, address, hour } = request
      const used = countOf(address, hour)
      if (used >= request.limit) return { outcome: 'limited', used }
      count(address, hour)
      insertToken(token)
      return { outcome: 'issued' }
    },

    revoke(request: { jti: string; sub: string; now: number }): { readonly revokedAt: number } | undefined {
      const row = owned.get(request.jti, request.sub)
      if (row === undefined) return undefined
      if (row.revoked_at !== null) return { revokedAt: row.revoked_at }
      revoke.run(request.now, request.jti)
      return { revokedAt: request.now }
    },

    touch(uses: readonly { readonly jti: string; readonly usedAt: number }[]): void {
      for (const { jti, usedAt } of uses) touch.run(usedAt, jti)
    },
  }
}
