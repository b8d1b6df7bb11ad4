import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { LadeError } from '@lade/core/errors'
import type { Scope } from '@lade/core/wire'
import { requireScope } from '../tokens/authorize.ts'
import type { TokenClaims } from '../tokens/token-claims.ts'
import { type Query, queryOf } from './query.ts'
import type { Service } from './service.ts'

/** RFC 9745 and RFC 8594: since when the query form is deprecated, and when it may be gone. */
const QUERY_TOKEN_DEPRECATED = '@1793491200'
const QUERY_TOKEN_SUNSET = 'Fri, 31 Dec 2027 23:59:59 GMT'

/** The token that a request carries, and how. The header wins when it came both ways. */
export interface Credentials {
  readonly token: string
  readonly isQuery: boolean
}

/**
 * Finds the bearer token of a request, without checking it.
 *
 * @returns undefined when the request carries none, which is the sponsored tier; never for a header that is not understood.
 * @throws {LadeError} `invalid_token` for another scheme, and for a query token where that form is turned off.
 */
export function credentialsOf(
  request: IncomingMessage,
  query: Query,
  queryToken: 'accept' | 'refuse',
): Credentials | undefined {
  const header = request.headers.authorization
  if (header !== undefined) {
    const token = /^Bearer +([^\s]+)$/i.exec(header)?.[1]
    if (token === undefined) throw new LadeError('invalid_token', {})
    return { token, isQuery: false }
  }
  const token = query.get('token')
  if (token === undefined) return undefined
  if (queryToken === 'refuse') throw new LadeError('invalid_token', {})
  return { token, isQuery: true }
}

/** The claims of a request that needs a token with `scope`; with no scope, any valid token will do. */
export async function requireToken(
  service: Service,
  request: IncomingMessage,
  query: Query,
  scope?: Scope,
): Promise<TokenClaims> {
  const credentials = credentialsOf(request, query, service.config.queryToken)
  if (credentials === undefined) throw new LadeError('no_token', {})
  const claims = await service.authorizer.authorize(credentials.token)
  if (scope !== undefined) requireScope(claims, scope)
  return claims
}

/** As `requireToken`, for a request whose query nobody has read yet. */
export function claimsOf(service: Service, request: IncomingMessage, scope?: Scope): Promise<TokenClaims> {
  return requireToken(service, request, queryOf(request.url ?? '/'), scope)
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
