import { PARTIAL_UPLOAD_MEDIA_TYPE, resumableAppendHeaders, uploadResult } from '@lade/core/wire'
import * as z from 'zod'
import { pathOf } from '../../query.ts'
import type { Service } from '../../service.ts'
import { UPLOAD_PATH } from '../../upload-path.ts'
import { rawRoute } from '../raw-route.ts'
import { bytes, emptyResponse, problems, type Routes, security, takenOver } from '../routes.ts'
import { resumableUploadHandler } from './resumable-upload.ts'

const uploadParams = z.object({ id: z.string().describe('As the Location of the upload ends') })

/** True for `/api/upload` and what is one level below it. */
export function isResumablePath(url: string): boolean {
  return /^\/api\/upload(?:\/[^/]+)?$/.test(pathOf(url))
}

export function resumableRoute(url: string): string {
  return pathOf(url) === UPLOAD_PATH ? UPLOAD_PATH : `${UPLOAD_PATH}/{id}`
}

/** `/api/upload/{id}`, for its documentation and every spelling that is not answered at once. */
export function resumableUploadRoutes(app: Routes, service: Service): void {
  const onRequest = rawRoute(service, resumableUploadHandler(service))
  const url = '/api/upload/:id'
  app.route({
    method: 'PATCH',
    url,
    schema: {
      tags: ['uploads'],
      operationId: 'continueUpload',
      summary: 'Add bytes to a resumable upload',
      description:
        'By draft-ietf-httpbis-resumable-upload, interop versions 8 and 6, for an upload that began at /api/upload with Upload-Complete. ' +
        'HEAD says in Upload-Offset how many bytes are durable. The request with the last bytes is answered as the upload of a file is.',
      params: uploadParams,
      headers: resumableAppendHeaders,
      body: bytes,
      consumes: [PARTIAL_UPLOAD_MEDIA_TYPE],
      security: [{}, ...security],
      responseHeaders: { 204: ['Upload-Offset', 'Upload-Length'], 200: ['Upload-Offset', 'Upload-Length', 'X-Cid'] },
      response: {
        200: uploadResult.describe('Complete, and stored'),
        204: emptyResponse('Added'),
        ...problems(400, 401, 403, 404, 408, 409, 411, 413, 415, 422, 423, 429, 451, 502, 503, 507),
      },
    },
    onRequest,
    handler: takenOver,
  })
  app.route({
    method: 'DELETE',
    url,
    schema: {
      tags: ['uploads'],
      operationId: 'cancelUpload',
      summary: 'Cancel a resumable upload',
      description: 'Its bytes are removed, and its part of the quota is returned. A file that it has become stays.',
      params: uploadParams,
      security: [{}, ...security],
      response: { 204: emptyResponse('Cancelled'), ...problems(401, 403, 404, 503) },
    },
    onRequest,
    handler: takenOver,
  })
  app.route({ method: 'HEAD', url, schema: { hide: true }, onRequest, handler: takenOver })
}
