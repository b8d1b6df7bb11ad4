import { LadeError } from '@lade/core/errors'
import { SCOPES, type SessionRequest } from '@lade/core/wire'
import type { CountedSignup, RecordStore, SessionOpening, SessionRecord } from '../records/record-store.ts'
import type { Authorizer } from '../tokens/authorize.ts'
import { normalizeEmail, userIdOf } from '../tokens/email.ts'
import { answerLoginCode } from '../tokens/redeem-login-code.ts'
import type { SigningKeys } from '../tokens/signing-keys.ts'
import { hourOf, rateLimited } from '../tokens/signup-hour.ts'
import { isOfWallet } from '../tokens/wallet-claims.ts'
import { redeemSignInMessage } from '../wallets/sign-in.ts'
import { walletUserId } from '../wallets/wallet.ts'
import type { WalletChain } from '../wallets/wallet-chains.ts'
import { type WalletAudience, walletOfClaims } from '../wallets/wallet-token.ts'
import { newSessionSecret, sessionDigest } from './session-secret.ts'
import { expiryOf, LONGEST_MS } from './session-times.ts'
import { type SignIn, signInOf } from './sign-in-request.ts'

/** Sessions of one user. Nobody has as many browsers; it bounds what somebody can fill the records with. */
const MOST_OF_USER = 100

export interface OpenSessionDeps {
  readonly records: RecordStore
  readonly keys: SigningKeys
  readonly authorizer: Pick<Authorizer, 'authorizeUntil'>
  readonly now: () => number
  readonly newId: () => string
  readonly publicUrl: () => string
  /** Undefined where wallets are no callers. */
  readonly walletChain: () => WalletChain | undefined
  readonly walletAudience: () => WalletAudience | undefined
}

/** The settings that signing in depends on. */
export interface SessionRules {
  readonly signup: 'open' | 'email' | 'closed'
  /** Of a session that was not made from a token. */
  readonly quotaMb: number
  readonly signupsPerHour: number
}

export interface OpenSessionInput {
  readonly request: SessionRequest
  /** Who asks, such as `ip:192.0.2.7`: a session for an address alone counts against its hourly signups. */
  readonly address: string
  /** The secret that the browser has already: its session ends, so that nobody is signed in with a secret that somebody else chose. */
  readonly replaced: string | undefined
}

/** `secret` is for the cookie, and is kept nowhere. */
export interface OpenedSession {
  readonly secret: string
  readonly session: SessionRecord
}

/** Who signed in, and what the session may do. */
type Grant = Pick<SessionRecord, 'via' | 'sub' | 'email' | 'scopes' | 'quotaMb' | 'jti' | 'issuedAt' | 'endsAt'>

/**
 * Signs a browser in: with a token, an email address (where signup is open), a login code, or a message that a wallet signed.
 *
 * A session made from a token has its scopes and its quota, and ends with it. Any other has what a token of that signup has by default, and
 * ends after 30 days.
 *
 * @throws {LadeError} `bad_request` for fields that do not belong together; what `signUp`, `redeemLoginCode`, `signIn` and the check of a token
 *   throw.
 */
export async function openSession(
  deps: OpenSessionDeps,
  rules: SessionRules,
  input: OpenSessionInput,
): Promise<OpenedSession> {
  const signIn = signInOf(input.request)
  switch (signIn.via) {
    case 'token':
      return record(deps, input, await grantOfToken(deps, signIn.token))
    case 'email':
      return record(deps, input, grantOfEmail(deps, rules, signIn.email), {
        address: input.address,
        hour: hourOf(deps.now()),
        limit: rules.signupsPerHour,
      })
    case 'code':
      return redeemCode(deps, rules, input, signIn)
    case 'wallet':
      return record(deps, input, await grantOfWallet(deps, signIn))
  }
}

async function grantOfToken(deps: OpenSessionDeps, token: string): Promise<Grant> {
  const { claims, validUntilMs } = await deps.authorizer.authorizeUntil(token)
  const { sub, scopes, jti, iat } = claims
  // A token of a wallet is good for one origin and chain.
  if (isOfWallet(claims)) walletOfClaims(claims, deps.walletAudience())
  const { email, quotaMb } = isOfWallet(claims) ? { email: null, quotaMb: null } : claims
  return { via: 'token', sub, email, scopes, quotaMb, jti, issuedAt: iat * 1000, endsAt: validUntilMs }
}

function grantOfEmail(deps: OpenSessionDeps, rules: SessionRules, text: string): Grant {
  if (rules.signup === 'closed') throw new LadeError('signup_closed', {})
  const email = normalizeEmail(text)
  if (rules.signup === 'email') throw new LadeError('email_code_required', {})
  return { ...newGrant(deps), via: 'email', sub: userIdOf(email), email, quotaMb: rules.quotaMb }
}

async function grantOfWallet(deps: OpenSessionDeps, signed: Extract<SignIn, { via: 'wallet' }>): Promise<Grant> {
  const chain = deps.walletChain()
  if (chain === undefined) {
    throw new LadeError('invalid_signature', { reason: 'Wallets are not enabled on this service.' })
  }
  // Before the nonce is used up.
  deps.keys.current()
  const { wallet, notAfter } = await redeemSignInMessage({ ...deps, chain, nonces: deps.records.nonces }, signed)
  const grant = newGrant(deps)
  const endsAt = Math.min(grant.endsAt, notAfter)
  return { ...grant, via: 'wallet', sub: walletUserId(wallet), email: null, quotaMb: null, endsAt }
}

async function redeemCode(
  deps: OpenSessionDeps,
  rules: SessionRules,
  input: OpenSessionInput,
  request: Extract<SignIn, { via: 'code' }>,
): Promise<OpenedSession> {
  if (rules.signup === 'closed') throw new LadeError('signup_closed', {})
  if (rules.signup === 'open') {
    throw new LadeError('bad_request', { reason: 'This service mails no login codes. Send the email address alone.' })
  }
  return answerLoginCode(deps, { request, address: input.address }, async ({ email }) => {
    const grant: Grant = { ...newGrant(deps), via: 'code', sub: userIdOf(email), email, quotaMb: rules.quotaMb }
    const { opening, opened } = prepare(deps, input, grant)
    return { reward: { session: opening }, result: opened }
  })
}

function newGrant({ now }: OpenSessionDeps): Pick<Grant, 'scopes' | 'jti' | 'issuedAt' | 'endsAt'> {
  return { scopes: SCOPES, jti: null, issuedAt: now(), endsAt: now() + LONGEST_MS }
}

async function record(
  deps: OpenSessionDeps,
  input: OpenSessionInput,
  grant: Grant,
  signup?: CountedSignup,
): Promise<OpenedSession> {
  const { opening, opened } = prepare(deps, input, grant)
  const outcome = await deps.records.sessions.open({ opening, signup })
  if (outcome.outcome === 'opened') return opened
  const limit = signup?.limit ?? outcome.used
  throw rateLimited(deps.now(), { used: outcome.used, limit, what: 'signups from this address' })
}

function prepare(
  deps: OpenSessionDeps,
  { replaced }: OpenSessionInput,
  grant: Grant,
): { readonly opening: SessionOpening; readonly opened: OpenedSession } {
  const secret = newSessionSecret()
  const now = deps.now()
  const session: SessionRecord = {
    ...grant,
    id: deps.newId(),
    keyId: deps.keys.current().id,
    createdAt: now,
    lastUsedAt: now,
    expiresAt: expiryOf(grant, now),
  }
  const replaces = replaced === undefined ? undefined : sessionDigest(replaced)
  return {
    opening: { session, digest: sessionDigest(secret), replaces, mostOfUser: MOST_OF_USER },
    opened: { secret, session },
  }
}
