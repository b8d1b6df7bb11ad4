import { cidText } from '@lade/core/wire'
import * as z from 'zod'
import type { Service } from '../../service.ts'
import { GATEWAY_RESPONSE_HEADERS, GATEWAY_RESPONSES, gatewayQuery } from '../gateway/gateway.ts'
import { type RawHandler, rawRoute } from '../raw-route.ts'
import { type Routes, security, takenOver } from '../routes.ts'
import { getFilePath } from './get-file-path.ts'
import { retrievalHeaders, retrievalQuery } from './retrieval.ts'

export function filePathHandler(service: Service): RawHandler {
  return (request, response, context) => getFilePath(service, request, response, context)
}

/** `/p/{cid}/{path}`. */
export function filePathRoutes(app: Routes, service: Service): void {
  const onRequest = rawRoute(service, filePathHandler(service))
  const schema = {
    tags: ['retrieval'],
    operationId: 'getFileInFolder',
    summary: 'Retrieve what is in a folder',
    description:
      'What a path in an uploaded folder leads to, as at /ipfs/{cid}/{path}, for anyone who can retrieve /p/{cid}. ' +
      'With an empty path: index.html of the folder, else its list.',
    params: z.object({
      cid: cidText.describe('The CID that the folder was uploaded under'),
      path: z.string().describe('Names, each percent-encoded, with slashes between them'),
    }),
    querystring: gatewayQuery.extend(retrievalQuery.pick({ share: true }).shape),
    headers: retrievalHeaders,
    security: [{}, ...security],
    responseHeaders: GATEWAY_RESPONSE_HEADERS,
    response: GATEWAY_RESPONSES,
  }
  app.route({ method: ['GET', 'HEAD'], url: '/p/:cid/*', schema, onRequest, handler: takenOver })
}
