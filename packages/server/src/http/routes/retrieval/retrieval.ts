import { downloadNameField } from '@lade/core/wire'
import * as z from 'zod'
import { FILE_HEADERS } from '../../openapi/response-headers.ts'
import { pathOf } from '../../query.ts'
import type { ResponseCache } from '../../response-cache.ts'
import type { Service } from '../../service.ts'
import { type RawHandler, rawRoute } from '../raw-route.ts'
import { bytesOf, cidParams, emptyResponse, problems, type Routes, security, takenOver } from '../routes.ts'
import { getFile } from './get-file.ts'
import { offloadOf } from './offload.ts'

/** What `/p/` reads in its query, and `/piece/`. */
export const retrievalQuery = z.object({
  filename: downloadNameField.optional(),
  download: z.enum(['true', 'false']).optional().describe('true: download instead of showing in the browser'),
  share: z.string().optional().describe('The signature of a share link'),
})

/** For the reader; these are read by hand. */
export const retrievalHeaders = z.object({
  range: z
    .string()
    .optional()
    .meta({
      description: 'One range of bytes; several, and other units, get the whole file',
      examples: ['bytes=0-99'],
    }),
  'if-none-match': z.string().optional().describe('ETags of what you have; 304 if one of them matches'),
  'if-range': z.string().optional().describe('ETag of what you have; if it has changed, you get the whole file'),
})

/** Files have the type that they were uploaded with. Generators know what to do with the first. */
export const ANY_TYPE = ['application/octet-stream', '*/*'] as const

export const RETRIEVAL_RESPONSE_HEADERS = {
  200: FILE_HEADERS,
  206: [...FILE_HEADERS, 'Content-Range'],
  304: ['ETag', 'Cache-Control'],
  307: ['Location'],
} as const

export function retrievalHandler(service: Service, responseCache: ResponseCache | undefined): RawHandler {
  const offload = offloadOf(service.config, { mayRedirect: true })
  return (request, response, { query, headers }) => {
    const cidText = pathOf(request.url ?? '/').slice('/p/'.length)
    return getFile(service, responseCache, request, response, { cidText, query, headers, offload })
  }
}

/** `/p/{cid}`. */
export function retrievalRoutes(app: Routes, service: Service, responseCache: ResponseCache | undefined): void {
  const onRequest = rawRoute(service, retrievalHandler(service, responseCache))
  const schema = {
    tags: ['retrieval'],
    operationId: 'getContent',
    summary: 'Retrieve a file',
    description:
      'For anyone. A private file needs a token of its owner with the scope get, or a share link. ' +
      'Supports single ranges, If-Range and the other preconditions of RFC 9110.',
    params: cidParams,
    querystring: retrievalQuery,
    headers: retrievalHeaders,
    security: [{}, ...security],
    responseHeaders: RETRIEVAL_RESPONSE_HEADERS,
    response: {
      200: bytesOf('The bytes', ...ANY_TYPE),
      206: bytesOf('The requested range', ...ANY_TYPE),
      304: emptyResponse('If-None-Match or If-Modified-Since: the client has these bytes'),
      307: emptyResponse('The storage sends this big file: Location is a URL with limited lifetime'),
      ...problems(400, 401, 403, 404, 410, 412, 416, 429, 451, 503),
    },
  }
  app.route({ method: ['GET', 'HEAD'], url: '/p/:cid', schema, onRequest, handler: takenOver })
  // Whatever else stands under /p/ is no content id, and is told so.
  app.route({ method: ['GET', 'HEAD'], url: '/p/*', schema: { hide: true }, onRequest, handler: takenOver })
}
