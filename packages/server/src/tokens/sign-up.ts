import { LadeError } from '@lade/core/errors'
import { SCOPES, type SignupRequest, type SignupResult } from '@lade/core/wire'
import type { Moderation } from '../moderation/moderation.ts'
import type { RecordStore, SessionRecord } from '../records/record-store.ts'
import { refuseBlockedEmail } from './blocked-email.ts'
import { normalizeEmail } from './email.ts'
import { type NewTokenDeps, newToken, type TokenBounds } from './new-token.ts'
import { hourOf, signupsLimited } from './signup-hour.ts'
import type { TokenClaims } from './token-claims.ts'
import { labelOf } from './token-label.ts'

export interface SignUpDeps extends NewTokenDeps {
  readonly records: RecordStore
  readonly moderation: Pick<Moderation, 'callers'>
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
  /** By which the request is sent. */
  readonly session?: SessionRecord | undefined
}

/**
 * Mints a token for an email address and records it. Tokens that the address already has stay as they are.
 *
 * Where signup is by email, a token of the same address stands in for the code; the new one then allows no more than it, and ends with it
 * at the latest. A session makes tokens of its own user alone, which allow no more than it; if it was made from a token, they end with that at
 * the latest.
 *
 * @throws {LadeError} `signup_closed`, `invalid_email`, `caller_blocked`, `invalid_label`, `invalid_scopes`, `email_code_required`,
 *   `bad_request`, `insufficient_scope`, `rate_limited`, `auth_offline`, `storage_failed`, and what `bearer` throws.
 */
export async function signUp(deps: SignUpDeps, rules: SignUpRules, input: SignUpInput): Promise<SignupResult> {
  if (rules.signup === 'closed') throw new LadeError('signup_closed', {})
  const { request, address } = input
  const email = normalizeEmail(request.email)
  refuseBlockedEmail(deps.moderation, email)
  const label = labelOf(request.label)
  const bounds = await boundsOf(rules, email, input)
  const { record, result } = await newToken(deps, bounds, { ...request, email, label })
  const hour = hourOf(deps.now())
  const outcome = await deps.records.tokens.signUp({ token: record, address, hour, limit: rules.signupsPerHour })
  if (outcome.outcome === 'limited') {
    throw signupsLimited(deps.now(), { used: outcome.used, limit: rules.signupsPerHour })
  }
  return result
}

async function boundsOf(rules: SignUpRules, email: string, { bearer, session }: SignUpInput): Promise<TokenBounds> {
  if (session !== undefined) return boundsOfSession(rules, email, session)
  if (rules.signup !== 'email') return { scopes: SCOPES, quotaMb: rules.quotaMb }
  const claims = await bearer()
  if (claims?.email !== email) throw new LadeError('email_code_required', {})
  // A token of an operator makes tokens of a caller, and none where it is good for nothing else.
  const scopes = SCOPES.filter((scope) => claims.scopes.includes(scope))
  if (scopes.length === 0) throw new LadeError('insufficient_scope', { required: SCOPES[0], scopes: claims.scopes })
  return { scopes, quotaMb: Math.min(claims.quotaMb, rules.quotaMb), exp: claims.exp }
}

function boundsOfSession(rules: SignUpRules, email: string, session: SessionRecord): TokenBounds {
  const { quotaMb, jti, endsAt } = session
  if (session.email === null || quotaMb === null) {
    throw new LadeError('bad_request', {
      reason:
        'You are signed in with a wallet, and signup creates tokens only for email addresses. Sign requests with the wallet, or sign in with it to get a token for 15 minutes.',
    })
  }
  if (session.email !== email) {
    throw new LadeError('bad_request', { reason: `You are signed in as ${session.email}. Send that address.` })
  }
  const scopes = SCOPES.filter((scope) => session.scopes.includes(scope))
  const exp = jti === null ? {} : { exp: Math.floor(endsAt / 1000) }
  return { scopes, quotaMb: Math.min(quotaMb, rules.quotaMb), ...exp }
}
