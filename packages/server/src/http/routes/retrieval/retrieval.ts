import * as z from 'zod'
import { pathOf } from '../../query.ts'
import type { ResponseCache } from '../../response-cache.ts'
import type { Service } from '../../service.ts'
import { type RawHandler, rawRoute } from '../raw-route.ts'
import { cidParams, problems, type Routes, takenOver } from '../routes.ts'
import { getFile } from './get-file.ts'
import { offloadOf } from './offload.ts'

/** What `/p/` reads in its query, and `/piece/`. */
export const retrievalQuery = z.object({
  filename: z.string().optional().describe('Another file name for the download'),
  download: z.enum(['true', 'false']).optional().describe('true: download instead of showing in the browser'),
  share: z.string().optional().describe('The signature of a share link'),
})

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
    summary: 'Retrieve a file',
    description:
      'For anyone. A private file needs a token of its owner with the scope get, or a share link. ' +
      'Supports single ranges, If-Range and the other preconditions of RFC 9110.',
    params: cidParams,
    querystring: retrievalQuery,
    response: {
      200: z.unknown().describe('The bytes'),
      206: z.unknown().describe('The requested range'),
      307: z.unknown().describe('The storage sends this big file: Location is a URL with limited lifetime'),
      304: z.unknown().describe('If-None-Match or If-Modified-Since: the client has these bytes; no body'),
      ...problems(400, 401, 403, 404, 410, 412, 416, 429, 503),
    },
  }
  app.route({ method: ['GET', 'HEAD'], url: '/p/:cid', schema, onRequest, handler: takenOver })
  // Whatever else stands under /p/ is no content id, and is told so.
  app.route({ method: ['GET', 'HEAD'], url: '/p/*', schema: { hide: true }, onRequest, handler: takenOver })
}
