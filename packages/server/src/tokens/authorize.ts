import { LadeError } from '@lade/core/errors'
import type { Scope } from '@lade/core/wire'
import type { RecordStore, Revocation, TokenRecord } from '../records/record-store.ts'
import { RecentAnswers } from './recent-answers.ts'
import type { SigningKeys } from './signing-keys.ts'
import type { VerifiedToken } from './token-jwt.ts'
import { VerifyCache } from './verify-cache.ts'
import { type BearerClaims, isOfWallet } from './wallet-claims.ts'

/** Checks bearer tokens on every request, records those that were issued elsewhere, and remembers when each was last used. */
export interface Authorizer {
  /**
   * @throws {LadeError} `invalid_token`, `revoked_token`, `auth_offline`, `storage_failed`.
   */
  authorize(token: string): Promise<BearerClaims>
  /** As `authorize`; says too until when the token is valid, which is sooner than it says where its key is accepted for a while only. */
  authorizeUntil(token: string): Promise<VerifiedToken>
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

/** While the records take no writes, requests go on; the next check tries again. */
const UNWRITABLE = ['insufficient_storage', 'read_only', 'storage_failed'] as const

/**
 * Signature and expiry are checked on each use, revocation in the records at most once a second for each token: a revoked
 * token, or a link of it, is refused at once by the process that revoked it (see `forget`), and within a second by every other.
 * A valid token that the records do not know is recorded with that check, so that its user can list and revoke it.
 */
export function createAuthorizer(deps: {
  readonly keys: SigningKeys
  readonly records: Pick<RecordStore, 'tokens'>
  readonly now: () => number
}): Authorizer {
  const cache = new VerifyCache()
  let uses = new Map<string, number>()
  const revocations = new RecentAnswers<Revocation | undefined>(BELIEVED_MS)
  const linkRevocations = new RecentAnswers<Revocation | undefined>(BELIEVED_MS)

  async function check(claims: BearerClaims): Promise<Revocation | undefined> {
    const { jti, sub, iat } = claims
    const { isKnown, revocation } = await deps.records.tokens.status({ jti, sub, issuedAt: iat * 1000 })
    if (!isKnown) await record(claims)
    return revocation
  }

  async function record(claims: BearerClaims): Promise<void> {
    const token = recordOf(claims)
    try {
      await deps.records.tokens.record({ token, forgetAt: isOfWallet(claims) ? token.expiresAt : null })
    } catch (error) {
      if (!UNWRITABLE.some((code) => LadeError.has(error, code))) throw error
    }
  }

  async function authorizeUntil(token: string): Promise<VerifiedToken> {
    const now = deps.now()
    const verified = await cache.verifyUntil(token, deps.keys.current(), new Date(now))
    const { jti } = verified.claims
    if ((await revocations.get(jti, now, () => check(verified.claims))) !== undefined) {
      throw new LadeError('revoked_token', { jti })
    }
    uses.set(jti, now)
    return verified
  }

  return {
    authorizeUntil,
    authorize: async (token) => (await authorizeUntil(token)).claims,
    async linksHold(jti) {
      const revocation = await linkRevocations.get(jti, deps.now(), () => deps.records.tokens.revocation(jti))
      return revocation === undefined || revocation.keepsLinks
    },
    forget(jti) {
      revocations.forget(jti)
      linkRevocations.forget(jti)
    },
    async flushUses() {
      // Whoever has not been here since the last flush is asked about again anyway.
      revocations.clear()
      linkRevocations.clear()
      if (uses.size === 0) return
      const written = uses
      uses = new Map()
      await deps.records.tokens.touch([...written].map(([jti, usedAt]) => ({ jti, usedAt })))
    },
  }
}

/** A token as the records keep it that was issued elsewhere. A wallet has no email, and no quota of its tokens. */
function recordOf(claims: BearerClaims): TokenRecord {
  const { jti, sub, scopes, iat, exp } = claims
  const { email, quotaMb } = isOfWallet(claims) ? { email: '', quotaMb: 0 } : claims
  return {
    jti,
    sub,
    email,
    label: isOfWallet(claims) ? 'wallet sign-in' : (claims.label ?? ''),
    scopes,
    quotaMb,
    issuedAt: iat * 1000,
    expiresAt: exp * 1000,
    lastUsedAt: null,
    revokedAt: null,
  }
}

/** @throws {LadeError} `insufficient_scope` naming the scope that is missing. */
export function requireScope(claims: { readonly scopes: readonly Scope[] }, scope: Scope): void {
  if (claims.scopes.includes(scope)) return
  throw new LadeError('insufficient_scope', { required: scope, scopes: claims.scopes })
}
