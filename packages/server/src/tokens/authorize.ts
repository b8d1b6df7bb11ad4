import { LadeError } from '@lade/core/errors'
import type { Scope } from '@lade/core/wire'
import type { RecordStore } from '../records/record-store.ts'
import type { SigningKeys } from './signing-keys.ts'
import type { TokenClaims } from './token-claims.ts'
import { VerifyCache } from './verify-cache.ts'

/** Checks bearer tokens on every request, and remembers when each was last used. */
export interface Authorizer {
  /**
   * @throws {LadeError} `invalid_token`, `revoked_token`, `auth_offline`, `storage_failed`.
   */
  authorize(token: string): Promise<TokenClaims>
  /** Writes the times of use that have not been written yet. */
  flushUses(): Promise<void>
}

/**
 * Signature and expiry come from the key and the clock, revocation from the records at each use: a revoked token is
 * refused at once by every process on the same records.
 */
export function createAuthorizer(deps: {
  readonly keys: SigningKeys
  readonly records: RecordStore
  readonly now: () => number
}): Authorizer {
  const cache = new VerifyCache()
  let uses = new Map<string, number>()
  return {
    async authorize(token) {
      const now = deps.now()
      const claims = await cache.verify(token, deps.keys.current(), new Date(now))
      const revokedAt = await deps.records.tokens.revokedAt(claims.jti)
      if (revokedAt !== undefined) throw new LadeError('revoked_token', { jti: claims.jti })
      uses.set(claims.jti, now)
      return claims
    },
    async flushUses() {
      if (uses.size === 0) return
      const written = uses
      uses = new Map()
      await deps.records.tokens.touch([...written].map(([jti, usedAt]) => ({ jti, usedAt })))
    },
  }
}

/** @throws {LadeError} `insufficient_scope` naming the scope that is missing. */
export function requireScope(claims: TokenClaims, scope: Scope): void {
  if (!claims.scopes.includes(scope)) throw new LadeError('insufficient_scope', { required: scope })
}
