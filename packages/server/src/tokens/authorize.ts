import { LadeError } from '@lade/core/errors'
import type { Scope } from '@lade/core/wire'
import type { RecordStore, Revocation } from '../records/record-store.ts'
import type { SigningKeys } from './signing-keys.ts'
import { VerifyCache } from './verify-cache.ts'
import { type BearerClaims, isOfWallet } from './wallet-claims.ts'

/** Checks bearer tokens on every request, and remembers when each was last used. */
export interface Authorizer {
  /**
   * @throws {LadeError} `invalid_token`, `revoked_token`, `auth_offline`, `storage_failed`.
   */
  authorize(token: string): Promise<BearerClaims>
  /**
   * True unless this token was revoked and its share links with it. They outlive the token when it expires.
   *
   * @throws {LadeError} `storage_failed`.
   */
  linksHold(jti: string): Promise<boolean>
  /** Makes a revocation by this process hold from the next request on. */
  forget(jti: string): void
  /** Writes the times of use that have not been written yet. */
  flushUses(): Promise<void>
}

/** How long the records' word on whether a token is revoked is believed: another process's revocation holds after it. */
const BELIEVED_MS = 1000

/**
 * Signature and expiry are checked on each use, revocation in the records at most once a second for each token: a revoked
 * token, or a link of it, is refused at once by the process that revoked it (see `forget`), and within a second by every other.
 */
export function createAuthorizer(deps: {
  readonly keys: SigningKeys
  readonly records: RecordStore
  readonly now: () => number
}): Authorizer {
  const cache = new VerifyCache()
  let uses = new Map<string, number>()
  let known = new Map<string, { readonly checkedAt: number; readonly revocation: Revocation | undefined }>()

  async function revocationOf(jti: string, now: number): Promise<Revocation | undefined> {
    const last = known.get(jti)
    if (last !== undefined && now >= last.checkedAt && now - last.checkedAt < BELIEVED_MS) return last.revocation
    known.delete(jti)
    const revocation = await deps.records.tokens.revocation(jti)
    known.set(jti, { checkedAt: now, revocation })
    return revocation
  }

  return {
    async authorize(token) {
      const now = deps.now()
      const claims = await cache.verify(token, deps.keys.current(), new Date(now))
      const { jti } = claims
      if ((await revocationOf(jti, now)) !== undefined) throw new LadeError('revoked_token', { jti })
      // Tokens of wallets are listed nowhere, and nobody asks when one was used.
      if (!isOfWallet(claims)) uses.set(jti, now)
      return claims
    },
    async linksHold(jti) {
      const revocation = await revocationOf(jti, deps.now())
      return revocation === undefined || revocation.keepsLinks
    },
    forget: (jti) => void known.delete(jti),
    async flushUses() {
      // Whoever has not been here since the last flush is asked about again anyway.
      known = new Map()
      if (uses.size === 0) return
      const written = uses
      uses = new Map()
      await deps.records.tokens.touch([...written].map(([jti, usedAt]) => ({ jti, usedAt })))
    },
  }
}

/** @throws {LadeError} `insufficient_scope` naming the scope that is missing. */
export function requireScope(claims: { readonly scopes: readonly Scope[] }, scope: Scope): void {
  if (!claims.scopes.includes(scope)) throw new LadeError('insufficient_scope', { required: scope })
}
