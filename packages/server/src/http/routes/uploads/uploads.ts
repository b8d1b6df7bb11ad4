import { IMPORT_PROFILES } from '@lade/core/dag'
import { uploadHeaders, uploadQuery, uploadResult } from '@lade/core/wire'
import { QUOTA_HEADERS } from '../../openapi/response-headers.ts'
import type { Service } from '../../service.ts'
import { UPLOAD_PATH } from '../../upload-path.ts'
import { type RawHandler, rawRoute } from '../raw-route.ts'
import { isCompleteOf } from '../resumable/resumable-fields.ts'
import { createResumableUpload } from '../resumable/resumable-upload.ts'
import { bytes, problems, type Routes, security, takenOver } from '../routes.ts'
import { createUpload } from './create.ts'

export function uploadHandler(service: Service): RawHandler {
  const resumable = createResumableUpload(service)
  return (request, response, context) =>
    isCompleteOf(request) === undefined
      ? createUpload(service, request, response, context.query, context.headers)
      : resumable(request, response, context)
}

/** `/api/upload`. */
export function uploadRoutes(app: Routes, service: Service): void {
  app.route({
    method: ['POST', 'PUT'],
    url: UPLOAD_PATH,
    schema: {
      tags: ['uploads'],
      operationId: 'uploadFile',
      summary: 'Stage a file',
      description:
        'The body is the raw bytes; POST and PUT do the same. Without a token, the upload is sponsored and counts against the IP address of the ' +
        'caller. A body of unknown length has `Transfer-Encoding: chunked` in place of `Content-Length`. ' +
        'The response is sent when the file is durable and can be downloaded. With `Upload-Complete` it is an upload that can be resumed ' +
        '(draft-ietf-httpbis-resumable-upload); then the cid may be missing.',
      security: [{}, ...security],
      querystring: uploadQuery.extend({
        profile: uploadQuery.shape.profile.meta({ enum: Object.keys(IMPORT_PROFILES) }),
      }),
      headers: uploadHeaders,
      body: bytes.meta({ minLength: 1 }),
      // Its own media type is kept with the file.
      consumes: ['application/octet-stream', '*/*'],
      responseHeaders: { 200: QUOTA_HEADERS },
      response: {
        200: uploadResult.describe('Staged'),
        ...problems(400, 401, 403, 408, 409, 411, 413, 415, 422, 429, 451, 502, 503, 507),
      },
    },
    onRequest: rawRoute(service, uploadHandler(service)),
    handler: takenOver,
  })
}
