import { LadeError } from '@lade/core/errors'
import { DEFAULT_TOKEN_DAYS, SCOPES, type Scope, type SignupResult } from '@lade/core/wire'
import type { TokenRecord } from '../records/record-store.ts'
import { userIdOf } from './email.ts'
import { mintToken } from './mint-token.ts'
import type { SigningKeys } from './signing-keys.ts'

const DAY_SECONDS = 86_400

export interface NewTokenDeps {
  readonly keys: SigningKeys
  readonly now: () => number
  readonly newId: () => string
  /** What RS256 tokens name as their issuer. */
  readonly publicUrl: () => string
}

/** The most that a token may have, and what it has unless it asks for less. */
export interface TokenBounds {
  readonly scopes: readonly Scope[]
  readonly quotaMb: number
  /** When it ends at the latest, in epoch seconds. @default after its own days */
  readonly exp?: number
}

/** What is asked of a token: its scopes may only narrow, its quota only lower, its days only shorten. */
export interface NewTokenRequest {
  /** In its one spelling. */
  readonly email: string
  readonly label: string
  readonly scopes?: readonly Scope[] | undefined
  readonly quotaMb?: number | undefined
  readonly ttlDays?: number | undefined
}

/** A token that was signed and is not recorded yet. */
export interface NewToken {
  readonly record: TokenRecord
  readonly result: SignupResult
}

/**
 * Signs a token. It becomes good to know of once its record is written.
 *
 * @throws {LadeError} `insufficient_scope` for a scope outside the bounds, `bad_request` for a quota above them, `auth_offline`.
 */
export async function newToken(deps: NewTokenDeps, bounds: TokenBounds, request: NewTokenRequest): Promise<NewToken> {
  const { email, label } = request
  const outside = request.scopes?.find((scope) => !bounds.scopes.includes(scope))
  if (outside !== undefined) throw new LadeError('insufficient_scope', { required: outside, scopes: bounds.scopes })
  if (request.quotaMb !== undefined && request.quotaMb > bounds.quotaMb) {
    throw new LadeError('bad_request', { reason: `quotaMb is ${request.quotaMb}; the limit is ${bounds.quotaMb}.` })
  }
  const scopes = SCOPES.filter((scope) => (request.scopes ?? bounds.scopes).includes(scope))
  const iat = Math.floor(deps.now() / 1000)
  const days = Math.min(request.ttlDays ?? DEFAULT_TOKEN_DAYS, DEFAULT_TOKEN_DAYS)
  const claims = {
    sub: userIdOf(email),
    email,
    scopes,
    quotaMb: request.quotaMb ?? bounds.quotaMb,
    iat,
    exp: Math.min(iat + days * DAY_SECONDS, bounds.exp ?? Number.POSITIVE_INFINITY),
    jti: deps.newId(),
  }
  const token = await mintToken(claims, deps.keys.current(), deps.publicUrl())
  const { sub, quotaMb, jti } = claims
  const expiresAt = claims.exp * 1000
  return {
    record: {
      jti,
      sub,
      email,
      label,
      scopes,
      quotaMb,
      issuedAt: iat * 1000,
      expiresAt,
      lastUsedAt: null,
      revokedAt: null,
    },
    result: { token, userId: sub, email, scopes, quotaMb, expiresAt: new Date(expiresAt).toISOString() },
  }
}
