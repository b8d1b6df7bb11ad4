import type { TokenRecord } from '../../record-store.ts'
import type { Connection } from './connection.ts'

type SignUpOutcome = { readonly outcome: 'issued' } | { readonly outcome: 'limited'; readonly used: number }

/** Tokens and signups. Each function runs inside one transaction that the writer opens. */
export function prepareTokenWrites(db: Connection) {
  const signups = db
    .prepare<[string, number], number>('SELECT count FROM signups WHERE address = ? AND hour = ?')
    .pluck()
  const countSignup = db.prepare<[string, number]>(
    `INSERT INTO signups (address, hour, count) VALUES (?, ?, 1)
     ON CONFLICT (address, hour) DO UPDATE SET count = count + 1`,
  )
  const forgetOldSignups = db.prepare<[number]>('DELETE FROM signups WHERE hour < ?')
  const insert = db.prepare(
    `INSERT INTO tokens (jti, sub, email, label, scopes, quota_mb, issued_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
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
      const used = signups.get(address, hour) ?? 0
      if (used >= request.limit) return { outcome: 'limited', used }
      if (used === 0) forgetOldSignups.run(hour - 1)
      countSignup.run(address, hour)
      const scopes = token.scopes.join(' ')
      insert.run(token.jti, token.sub, token.email, token.label, scopes, token.quotaMb, token.issuedAt, token.expiresAt)
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
