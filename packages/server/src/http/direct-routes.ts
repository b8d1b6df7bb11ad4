import type { IncomingMessage, ServerResponse } from 'node:http'
import { apiHeaders, commonHeaders } from './api-headers.ts'
import { corsHeaders } from './cors.ts'
import { exchangeOf } from './exchange.ts'
import { pathOf } from './query.ts'
import type { ResponseCache } from './response-cache.ts'
import { gatewayHandler } from './routes/gateway/gateway.ts'
import { answerGatewayOptions } from './routes/gateway/gateway-cors.ts'
import { pieceHandler } from './routes/pieces/pieces.ts'
import { answerRaw, type RawHandler } from './routes/raw-route.ts'
import { limitField } from './routes/resumable/resumable-fields.ts'
import { isResumablePath, resumableRoute } from './routes/resumable/resumable-routes.ts'
import { resumableUploadHandler } from './routes/resumable/resumable-upload.ts'
import { tusHandler, tusOptions } from './routes/resumable/tus.ts'
import { isTusPath, tusRouteOf } from './routes/resumable/tus-routes.ts'
import { answerUploadOptions } from './routes/resumable/upload-options.ts'
import { filePathHandler } from './routes/retrieval/file-paths.ts'
import { retrievalHandler } from './routes/retrieval/retrieval.ts'
import { sharedFolderHandler } from './routes/retrieval/shared-folder.ts'
import { uploadHandler } from './routes/uploads/uploads.ts'
import type { Service } from './service.ts'
import { UPLOAD_PATH } from './upload-path.ts'

const GATEWAY_PREFIX = '/ipfs/'
const CHALLENGE = /^\/p\/[^/]+\/challenge$/

/** Answers a request when it is one of those that carry content; false leaves it to the framework. */
export type DirectRoutes = (request: IncomingMessage, response: ServerResponse) => boolean

/** An address that carries content, and what answers there and below it. */
interface ContentRoute {
  readonly prefix: string
  readonly route: string
  readonly handler: RawHandler
  /** Undefined where there is nothing below. */
  readonly below?: { readonly route: string; readonly handler: RawHandler }
}

/**
 * The short way of uploads and retrievals: the same handlers that the framework's routes lead to, without its hooks. Only
 * for the plain spelling of their paths; every other spelling, and every other method, takes the long way.
 */
export function directRoutes(service: Service, responseCache: ResponseCache | undefined): DirectRoutes {
  const upload = uploadHandler(service)
  const tus = tusHandler(service)
  const resumable = resumableUploadHandler(service)
  const gateway = gatewayHandler(service)
  const retrievals: readonly ContentRoute[] = [
    {
      prefix: '/p/',
      route: '/p/{cid}',
      handler: retrievalHandler(service, responseCache),
      below: { route: '/p/{cid}/{path}', handler: filePathHandler(service) },
    },
    {
      prefix: GATEWAY_PREFIX,
      route: '/ipfs/{cid}',
      handler: gateway,
      below: { route: '/ipfs/{cid}/{path}', handler: gateway },
    },
    {
      prefix: '/share/',
      route: '/share/{signature}/{cid}/{path}',
      handler: sharedFolderHandler(service),
    },
    { prefix: '/piece/', route: '/piece/{pieceCid}', handler: pieceHandler(service, responseCache) },
  ]
  return (request, response) => {
    const { method, url = '' } = request
    if ((method === 'POST' || method === 'PUT') && pathOf(url) === UPLOAD_PATH) {
      exchangeOf(request).route = UPLOAD_PATH
      void answerRaw(service, upload, request, response, { ...corsHeaders, ...commonHeaders, ...apiHeaders })
      return true
    }
    if (isResumablePath(url) && (method === 'OPTIONS' || pathOf(url) !== UPLOAD_PATH)) {
      exchangeOf(request).route = resumableRoute(url)
      if (method === 'OPTIONS') answerUploadOptions(request, response, limitField(service))
      else void answerRaw(service, resumable, request, response, { ...corsHeaders, ...commonHeaders, ...apiHeaders })
      return true
    }
    if (isTusPath(url)) {
      exchangeOf(request).route = tusRouteOf(url)
      if (method === 'OPTIONS') answerUploadOptions(request, response, tusOptions(service))
      else void answerRaw(service, tus, request, response, { ...corsHeaders, ...commonHeaders, ...apiHeaders })
      return true
    }
    if (method === 'OPTIONS' && url.startsWith(GATEWAY_PREFIX)) {
      answerGatewayOptions(request, response)
      return true
    }
    if (method !== 'GET' && method !== 'HEAD') return false
    const found = retrievals.find(({ prefix }) => url.startsWith(prefix))
    if (found === undefined) return false
    // Only for POST, as the framework says to others.
    if (CHALLENGE.test(pathOf(url))) return false
    const isBelow = pathOf(url).includes('/', found.prefix.length)
    const { route, handler } = (isBelow ? found.below : undefined) ?? found
    exchangeOf(request).route = route
    void answerRaw(service, handler, request, response, {})
    return true
  }
}

/** The route of a response that was cached; only those of files and pieces are. */
export function routeOfCached({ url = '' }: IncomingMessage): string {
  return url.startsWith('/piece/') ? '/piece/{pieceCid}' : '/p/{cid}'
}
