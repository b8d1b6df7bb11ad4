import { LadeError } from '@lade/core/errors'
import { DEFAULT_TOKEN_DAYS, SCOPES, type SignupRequest, type SignupResult } from '@lade/core/wire'
import type { RecordStore } from '../records/record-store.ts'
import { normalizeEmail, userIdOf } from './email.ts'
import type { SigningKeys } from './signing-keys.ts'
import { mintToken } from './token-codec.ts'

const DAY_SECONDS = 86_400
const HOUR_MS = 3_600_000
const LABEL_CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u

export interface SignUpDeps {
  readonly records: RecordStore
  readonly keys: SigningKeys
  readonly now: () => number
  readonly newId: () => string
}

export interface SignUpRules {
  readonly signup: 'open' | 'closed'
  /** The most that a token may have, and what it has unless it asks for less. */
  readonly quotaMb: number
  readonly signupsPerHour: number
}

/**
 * Mints a token for an email address and records it. Tokens that the address already has stay as they are.
 *
 * @param address - whose hourly signups this counts against, such as `ip:192.0.2.7`.
 * @throws {LadeError} `signup_closed`, `invalid_email`, `invalid_label`, `invalid_scopes`, `rate_limited`,
 *   `auth_offline`, `storage_failed`.
 */
export async function signUp(
  deps: SignUpDeps,
  rules: SignUpRules,
  input: { readonly request: SignupRequest; readonly address: string },
): Promise<SignupResult> {
  if (rules.signup === 'closed') throw new LadeError('signup_closed', {})
  const { request, address } = input
  const email = normalizeEmail(request.email)
  const label = labelOf(request.label)
  const scopes = SCOPES.filter((scope) => request.scopes === undefined || request.scopes.includes(scope))
  const nowSeconds = Math.floor(deps.now() / 1000)
  const claims = {
    sub: userIdOf(email),
    email,
    scopes,
    quotaMb: Math.min(request.quotaMb ?? rules.quotaMb, rules.quotaMb),
    iat: nowSeconds,
    exp: nowSeconds + Math.min(request.ttlDays ?? DEFAULT_TOKEN_DAYS, DEFAULT_TOKEN_DAYS) * DAY_SECONDS,
    jti: deps.newId(),
  }
  const token = await mintToken(claims, deps.keys.current())
  const hour = Math.floor(deps.now() / HOUR_MS)
  const outcome = await deps.records.tokens.signUp({
    token: {
      jti: claims.jti,
      sub: claims.sub,
      email,
      label,
      scopes,
      quotaMb: claims.quotaMb,
      issuedAt: claims.iat * 1000,
      expiresAt: claims.exp * 1000,
      lastUsedAt: null,
      revokedAt: null,
    },
    address,
    hour,
    limit: rules.signupsPerHour,
  })
  if (outcome.outcome === 'limited') {
    const retryAfterSeconds = Math.max(1, Math.ceil(((hour + 1) * HOUR_MS - deps.now()) / 1000))
    throw new LadeError('rate_limited', { used: outcome.used, limit: rules.signupsPerHour, retryAfterSeconds })
  }
  const expiresAt = new Date(claims.exp * 1000).toISOString()
  return { token, userId: claims.sub, email, scopes, quotaMb: claims.quotaMb, expiresAt }
}

function labelOf(text: string): string {
  const label = text.trim()
  if (label === '') throw new LadeError('invalid_label', { reason: 'It is empty.' })
  if (LABEL_CONTROLS.test(label)) throw new LadeError('invalid_label', { reason: 'It holds control characters.' })
  return label
}
