import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { LadeError } from '@lade/core/errors'
import { type Scope, TOKEN_SCOPES } from '@lade/core/wire'
import { requireScope } from '../tokens/authorize.ts'
import { requireAdminAllowed } from '../tokens/verified-account.ts'
import { isOfWallet } from '../tokens/wallet-claims.ts'
import { type Wallet, walletOfUserId } from '../wallets/wallet.ts'
import { walletOfClaims } from '../wallets/wallet-token.ts'
import { type Caller, userCaller, type WalletFacts, walletCaller } from './caller.ts'
import { accountRulesOf } from './caller-rights.ts'
import { exchangeOf } from './exchange.ts'
import { type Query, queryOf } from './query.ts'
import type { Service } from './service.ts'
import { sessionOfRequest } from './session-request.ts'
import { walletAudienceOf, walletChainOf, walletOfRequest, walletRulesOf } from './wallet-request.ts'

/** RFC 9745 and RFC 8594: since when the query form is deprecated, and when it may be gone. */
const QUERY_TOKEN_DEPRECATED = '@1793491200'
const QUERY_TOKEN_SUNSET = 'Fri, 31 Dec 2027 23:59:59 GMT'

const FORM_OF_HEADER = 'Send the token as "Authorization: Bearer pk_live_…".'

/** The token that a request carries, and how. The header wins when it came both ways. */
export interface Credentials {
  readonly token: string
  readonly isQuery: boolean
}

/** A header that means a token of this service, well written or not. */
const MEANS_TOKEN = /^Bearer\s+pk_live_/i

/**
 * Finds the bearer token of a request, without checking it.
 *
 * @param otherKinds - whether a header with other credentials is refused or ignored, such as the Basic credentials of a proxy.
 * @returns undefined when the request carries none, which is the sponsored tier; never for a header that is not understood.
 * @throws {LadeError} `invalid_token` for another scheme, and for a query token where that form is turned off.
 */
export function credentialsOf(
  request: IncomingMessage,
  query: Query,
  queryToken: 'accept' | 'refuse',
  otherKinds: 'refuse' | 'ignore' = 'refuse',
): Credentials | undefined {
  const header = request.headers.authorization
  if (header !== undefined && (otherKinds === 'refuse' || MEANS_TOKEN.test(header))) {
    const token = /^Bearer +([^\s]+)$/i.exec(header)?.[1]
    if (token === undefined) throw new LadeError('invalid_token', { reason: faultOfHeader(header) })
    const fault = faultOfCopy(token)
    if (fault !== undefined) throw new LadeError('invalid_token', { reason: fault })
    return { token, isQuery: false }
  }
  const token = query.get('token')
  if (token === undefined) return undefined
  if (queryToken === 'refuse') {
    throw new LadeError('invalid_token', { reason: `Tokens in the query are turned off here. ${FORM_OF_HEADER}` })
  }
  return { token, isQuery: true }
}

/** What is wrong with an Authorization header that is no bearer token. The credentials in it are not repeated. */
function faultOfHeader(header: string): string {
  const [scheme = '', ...rest] = header.trim().split(/\s+/)
  if (/^pk_live_/.test(scheme)) return `The Authorization header lacks the word Bearer. ${FORM_OF_HEADER}`
  if (!/^bearer$/i.test(scheme)) {
    const named = /^[\w-]{1,20}$/.test(scheme) ? ` ${scheme}` : ''
    return `The scheme${named} of the Authorization header is not accepted here. ${FORM_OF_HEADER}`
  }
  return rest.length === 0
    ? `The Authorization header has no token. ${FORM_OF_HEADER}`
    : 'The token in the Authorization header has a space or a line break in it. Copy it again, in one piece.'
}

/** What shows already without the key that a token was copied wrongly. */
function faultOfCopy(token: string): string | undefined {
  if (/^["'`]|["'`]$/.test(token)) return `The token has quotation marks around it. ${FORM_OF_HEADER}`
  if (!token.startsWith('pk_live_')) return `The token does not start with pk_live_. ${FORM_OF_HEADER}`
  return undefined
}

/**
 * Who asks; undefined for a request without credentials, which is the sponsored tier. A request whose credentials do not hold
 * is refused and never taken for one without.
 *
 * @throws {LadeError} `invalid_token`, `revoked_token`, `auth_offline`, `caller_blocked`; `invalid_signature`, `replayed_signature`,
 *   `chain_offline`, `over_budget`; `bad_request` for a token beside the signature of a wallet; `storage_failed`; `foreign_origin` and
 *   `invalid_session` for the cookie of a session, which counts on the API alone, and where the request has nothing else.
 */
export async function findCaller(
  service: Service,
  request: IncomingMessage,
  query: Query,
): Promise<Caller | undefined> {
  const caller = await verifiedCaller(service, request, query)
  if (caller !== undefined) exchangeOf(request).principal = caller.principal
  return caller
}

async function verifiedCaller(service: Service, request: IncomingMessage, query: Query): Promise<Caller | undefined> {
  const hasToken = request.headers.authorization !== undefined || query.has('token')
  const signer = await walletOfRequest(service, request, { hasToken })
  if (signer !== undefined) return welcome(service, callerOfWallet(service, request, signer))
  const credentials = credentialsOf(request, query, service.config.queryToken)
  return credentials === undefined
    ? callerOfSession(service, request)
    : callerOfToken(service, request, credentials.token)
}

async function callerOfSession(service: Service, request: IncomingMessage): Promise<Caller | undefined> {
  const session = await sessionOfRequest(service, request)
  if (session === undefined) return undefined
  const { id: sessionId, sub, email, quotaMb } = session
  const jti = session.jti ?? undefined
  const scopes = TOKEN_SCOPES.filter((scope) => session.scopes.includes(scope))
  if (email !== null && quotaMb !== null) {
    return welcome(service, userCaller({ sub, email, scopes, quotaMb, jti, sessionId }))
  }
  const wallet = walletOfUserId(sub)
  // The chain is not the one that the wallet signed in for.
  if (wallet === undefined || walletRulesOf(service)?.chainId !== wallet.chainId) {
    throw new LadeError('invalid_session', {})
  }
  return welcome(service, callerOfWallet(service, request, wallet, { jti, scopes, sessionId }))
}

/**
 * Checks the token of a request that needs none: a caller with an invalid token must learn that it is invalid. Credentials of another kind
 * are ignored, so that a site behind a proxy with Basic credentials can show public files.
 *
 * @throws {LadeError} `invalid_token`, `revoked_token`, `auth_offline`, `caller_blocked`, `storage_failed`.
 */
export async function checkToken(service: Service, request: IncomingMessage, query: Query): Promise<void> {
  const credentials = credentialsOf(request, query, service.config.queryToken, 'ignore')
  if (credentials !== undefined) await callerOfToken(service, request, credentials.token)
}

async function callerOfToken(service: Service, request: IncomingMessage, token: string): Promise<Caller> {
  const claims = await service.authorizer.authorize(token)
  if (!isOfWallet(claims)) return welcome(service, userCaller(claims))
  return welcome(service, callerOfWallet(service, request, walletOfClaims(claims, walletAudienceOf(service)), claims))
}

/** @throws {LadeError} `caller_blocked`. */
function welcome({ moderation }: Service, caller: Caller): Caller {
  const refusal = moderation.callers.ofPrincipal(caller.principal)
  if (refusal !== undefined) throw refusal
  return caller
}

/**
 * Who asks, for a request that needs somebody with `scope`; with no scope, anybody with credentials will do.
 *
 * @throws {LadeError} `no_token`, `insufficient_scope`, `admin_refused`, and as `findCaller`.
 */
export async function requireCaller(
  service: Service,
  request: IncomingMessage,
  query: Query,
  scope?: Scope,
): Promise<Caller> {
  const caller = await findCaller(service, request, query)
  if (caller === undefined) throw new LadeError('no_token', {})
  if (scope !== undefined) requireScope(caller, scope)
  if (scope === 'admin') requireAdminAllowed(accountRulesOf(service))
  return caller
}

/** As `requireCaller`, for a request whose query nobody has read yet. */
export function callerOf(service: Service, request: IncomingMessage, scope?: Scope): Promise<Caller> {
  return requireCaller(service, request, queryOf(request.url ?? '/'), scope)
}

function callerOfWallet(service: Service, request: IncomingMessage, wallet: Wallet, shown?: WalletFacts): Caller {
  const rules = walletRulesOf(service)
  const chain = walletChainOf(service, request)
  // Who verified the wallet has had them.
  if (rules === undefined || chain === undefined) throw new TypeError('wallets are no callers here')
  return walletCaller(wallet, { ...rules, chain }, shown)
}

/** Headers of any response to a request that carried a token in its query, also when the header won. */
export function queryTokenHeaders(query: Query, docsUrl: string): OutgoingHttpHeaders {
  if (!query.has('token')) return {}
  return {
    deprecation: QUERY_TOKEN_DEPRECATED,
    sunset: QUERY_TOKEN_SUNSET,
    link: `<${docsUrl}>; rel="deprecation"; type="text/html"`,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  }
}
