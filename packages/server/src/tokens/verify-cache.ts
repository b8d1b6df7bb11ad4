import { hash } from 'node:crypto'
import { LadeError } from '@lade/core/errors'
import { expiredToken } from './expired-token.ts'
import type { SigningKey } from './signing-key.ts'
import { MAXIMUM_TOKEN_LENGTH, type VerifiedToken, verifyTokenUntil } from './token-jwt.ts'
import type { BearerClaims } from './wallet-claims.ts'

export interface VerifyCacheOptions {
  /** The least recently used token makes room for the next. @default 10000 */
  readonly maximumEntries?: number
}

/**
 * Verifies tokens and remembers those that were valid, so that a token in steady use costs one hash.
 *
 * Expiry is checked on every use; revocation is the caller's to check on every use. What one key verified is forgotten
 * when another key is asked about. Holds digests of tokens, never a token.
 *
 * @example
 * const cache = new VerifyCache()
 * (await cache.verify(token, keys.current(), new Date())).sub // '973dfe463ec85785'
 */
export class VerifyCache {
  readonly #verifiedByDigest = new Map<string, VerifiedToken>()
  readonly #maximumEntries: number
  #keyId: string | undefined

  constructor({ maximumEntries = 10_000 }: VerifyCacheOptions = {}) {
    this.#maximumEntries = maximumEntries
  }

  /** How many tokens are remembered. */
  get size(): number {
    return this.#verifiedByDigest.size
  }

  /**
   * As `verifyToken`. The claims are shared between callers, and frozen.
   *
   * @throws {LadeError} `invalid_token`.
   */
  async verify(token: string, key: SigningKey, now: Date): Promise<BearerClaims> {
    return (await this.verifyUntil(token, key, now)).claims
  }

  /** As `verifyTokenUntil`. */
  async verifyUntil(token: string, key: SigningKey, now: Date): Promise<VerifiedToken> {
    if (token.length > MAXIMUM_TOKEN_LENGTH) throw new LadeError('invalid_token', {})
    this.#forgetOtherKeys(key)
    const digest = hash('sha256', token, 'base64url')
    const known = this.#verifiedByDigest.get(digest)
    this.#verifiedByDigest.delete(digest)
    if (known !== undefined && known.validUntilMs <= now.getTime()) {
      const { exp } = known.claims
      throw exp * 1000 <= now.getTime() ? expiredToken(exp) : new LadeError('invalid_token', {})
    }
    const verified = known ?? (await verifyTokenUntil(token, key, now))
    // The key may have changed while this token was being verified.
    if (this.#keyId === key.id) this.#remember(digest, verified)
    return verified
  }

  #forgetOtherKeys(key: SigningKey): void {
    if (key.id === this.#keyId) return
    this.#verifiedByDigest.clear()
    this.#keyId = key.id
  }

  /** A Map keeps the order of insertion, so its first entry is the one least recently used. */
  #remember(digest: string, verified: VerifiedToken): void {
    Object.freeze(verified.claims.scopes)
    Object.freeze(verified.claims)
    this.#verifiedByDigest.set(digest, verified)
    if (this.#verifiedByDigest.size <= this.#maximumEntries) return
    const [oldest] = this.#verifiedByDigest.keys()
    if (oldest !== undefined) this.#verifiedByDigest.delete(oldest)
  }
}
