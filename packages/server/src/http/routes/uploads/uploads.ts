import { uploadHeaders, uploadQuery, uploadResult } from '@lade/core/wire'
import * as z from 'zod'
import type { Service } from '../../service.ts'
import { type RawHandler, rawRoute } from '../raw-route.ts'
import { problems, type Routes, security, takenOver } from '../routes.ts'
import { createUpload } from './create.ts'

export function uploadHandler(service: Service): RawHandler {
  return (request, response, { query, headers }) => createUpload(service, request, response, query, headers)
}

/** `/api/upload`. */
export function uploadRoutes(app: Routes, service: Service): void {
  app.route({
    method: ['POST', 'PUT'],
    url: '/api/upload',
    schema: {
      tags: ['uploads'],
      summary: 'Stage a file',
      description:
        'The body is the raw bytes; POST and PUT do the same. Without a token, the upload is sponsored and counts against the IP address of the ' +
        'caller. The response is sent when the file is durable and can be downloaded.',
      security: [{}, ...security],
      querystring: uploadQuery,
      headers: uploadHeaders,
      body: z.unknown().describe('The raw bytes'),
      consumes: ['application/octet-stream'],
      response: {
        200: uploadResult.describe('Staged'),
        ...problems(400, 401, 403, 408, 409, 411, 413, 415, 422, 429, 502, 503, 507),
      },
    },
    onRequest: rawRoute(service, uploadHandler(service)),
    handler: takenOver,
  })
}
