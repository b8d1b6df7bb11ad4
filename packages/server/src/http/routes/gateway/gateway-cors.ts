import type { IncomingMessage, ServerResponse } from 'node:http'
import { exchangeOf, requestIdOf } from '../../exchange.ts'
import { CONTENT_GUARD } from '../../file-headers.ts'

const ALLOWED_HEADERS = 'Content-Type, Range, User-Agent, X-Requested-With'
/** Headers of other gateways; clients that use several ask for all of them. */
const EXPOSED_ELSEWHERE = 'X-Chunked-Output, X-Stream-Output'

/** What scripts of other origins may send and read, as gateways of IPFS say it in each answer. */
export const GATEWAY_CORS: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, HEAD, OPTIONS',
  'access-control-allow-headers': ALLOWED_HEADERS,
  'access-control-expose-headers': `${CONTENT_GUARD['access-control-expose-headers']}, ${EXPOSED_ELSEWHERE}`,
}

/** Answers `OPTIONS` for content, whether a browser asks before a request or somebody looks. */
export function answerGatewayOptions(request: IncomingMessage, response: ServerResponse): void {
  exchangeOf(request).route = '/ipfs/{cid}'
  const asked = request.headers['access-control-request-headers']
  const isPlain = asked !== undefined && /^[\w\-, ]{1,1024}$/.test(asked)
  response.writeHead(204, {
    ...requestIdOf(request),
    ...GATEWAY_CORS,
    ...(isPlain ? { 'access-control-allow-headers': `${ALLOWED_HEADERS}, ${asked}` } : {}),
    'access-control-max-age': '86400',
    'x-content-type-options': 'nosniff',
  })
  response.end()
}
