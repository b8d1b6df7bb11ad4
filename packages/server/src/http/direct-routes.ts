import type { IncomingMessage, ServerResponse } from 'node:http'
import { apiHeaders, commonHeaders } from './api-headers.ts'
import { corsHeaders } from './cors.ts'
import { exchangeOf } from './exchange.ts'
import { pathOf } from './query.ts'
import type { ResponseCache } from './response-cache.ts'
import { gatewayHandler } from './routes/gateway/gateway.ts'
import { pieceHandler } from './routes/pieces/pieces.ts'
import { answerRaw, type RawHandler } from './routes/raw-route.ts'
import { retrievalHandler } from './routes/retrieval/retrieval.ts'
import { uploadHandler } from './routes/uploads/uploads.ts'
import type { Service } from './service.ts'

const FILE_PREFIX = '/p/'

/** Answers a request when it is one of those that carry content; false leaves it to the framework. */
export type DirectRoutes = (request: IncomingMessage, response: ServerResponse) => boolean

/**
 * The short way of uploads and retrievals: the same handlers that the framework's routes lead to, without its hooks. Only
 * for the plain spelling of their paths; every other spelling, and every other method, takes the long way.
 */
export function directRoutes(service: Service, responseCache: ResponseCache | undefined): DirectRoutes {
  const upload = uploadHandler(service)
  const retrievals: readonly (readonly [prefix: string, route: string, handler: RawHandler])[] = [
    [FILE_PREFIX, '/p/{cid}', retrievalHandler(service, responseCache)],
    ['/ipfs/', '/ipfs/{cid}', gatewayHandler(service)],
    ['/piece/', '/piece/{pieceCid}', pieceHandler(service, responseCache)],
  ]
  return (request, response) => {
    const { method, url = '' } = request
    if ((method === 'POST' || method === 'PUT') && pathOf(url) === '/api/upload') {
      exchangeOf(request).route = '/api/upload'
      void answerRaw(service, upload, request, response, { ...corsHeaders, ...commonHeaders, ...apiHeaders })
      return true
    }
    if (method !== 'GET' && method !== 'HEAD') return false
    for (const [prefix, route, handler] of retrievals) {
      if (!url.startsWith(prefix)) continue
      // Below a file there are other routes, which may have other methods.
      if (prefix === FILE_PREFIX && pathOf(url).includes('/', prefix.length)) return false
      exchangeOf(request).route = route
      void answerRaw(service, handler, request, response, {})
      return true
    }
    return false
  }
}

/** The route of a response that was cached; only those of files and pieces are. */
export function routeOfCached({ url = '' }: IncomingMessage): string {
  return url.startsWith('/piece/') ? '/piece/{pieceCid}' : '/p/{cid}'
}
