import { countText, LadeError } from '@lade/core/errors'
import { SCOPES, type SignupRequest, type SignupResult } from '@lade/core/wire'
import type { RecordStore } from '../records/record-store.ts'
import { normalizeEmail } from './email.ts'
import { type NewTokenDeps, newToken, type TokenBounds } from './new-token.ts'
import { hourOf, rateLimited } from './signup-hour.ts'
import type { TokenClaims } from './token-claims.ts'
import { labelOf } from './token-label.ts'

export interface SignUpDeps extends NewTokenDeps {
  readonly records: RecordStore
}

/** The settings that signup depends on. */
export interface SignUpRules {
  readonly signup: 'open' | 'email' | 'closed'
  /** The most that a token may have, and what it has unless it asks for less. */
  readonly quotaMb: number
  readonly signupsPerHour: number
}

export interface SignUpInput {
  readonly request: SignupRequest
  /** Whose hourly signups this counts against, such as `ip:192.0.2.7`. */
  readonly address: string
  /** Of the token that the request bears, which has been verified; asked only where signup is by email. */
  readonly bearer: () => Promise<TokenClaims | undefined>
}

/**
 * Mints a token for an email address and records it. Tokens that the address already has stay as they are.
 *
 * Where signup is by email, a token of the same address stands in for the code; the new one then allows no more than it, and ends with it
 * at the latest.
 *
 * @throws {LadeError} `signup_closed`, `invalid_email`, `invalid_label`, `invalid_scopes`, `email_code_required`,
 *   `bad_request`, `insufficient_scope`, `rate_limited`, `auth_offline`, `storage_failed`, and what `bearer` throws.
 */
export async function signUp(deps: SignUpDeps, rules: SignUpRules, input: SignUpInput): Promise<SignupResult> {
  if (rules.signup === 'closed') throw new LadeError('signup_closed', {})
  const { request, address } = input
  const email = normalizeEmail(request.email)
  const label = labelOf(request.label)
  const bounds = await boundsOf(rules, email, input)
  const { record, result } = await newToken(deps, bounds, { ...request, email, label })
  const hour = hourOf(deps.now())
  const outcome = await deps.records.tokens.signUp({ token: record, address, hour, limit: rules.signupsPerHour })
  if (outcome.outcome === 'limited') {
    throw rateLimited(deps.now(), {
      used: outcome.used,
      limit: rules.signupsPerHour,
      reached: `This IP address has reached its limit of ${countText(rules.signupsPerHour, 'signup')} per hour.`,
    })
  }
  return result
}

async function boundsOf(rules: SignUpRules, email: string, { bearer }: SignUpInput): Promise<TokenBounds> {
  if (rules.signup !== 'email') return { scopes: SCOPES, quotaMb: rules.quotaMb }
  const claims = await bearer()
  if (claims?.email !== email) throw new LadeError('email_code_required', {})
  return { scopes: claims.scopes, quotaMb: Math.min(claims.quotaMb, rules.quotaMb), exp: claims.exp }
}
