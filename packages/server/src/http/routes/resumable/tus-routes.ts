import { TUS_MEDIA_TYPE, tusCreateHeaders, tusPatchHeaders } from '@lade/core/wire'
import * as z from 'zod'
import { pathOf } from '../../query.ts'
import type { Service } from '../../service.ts'
import { rawRoute } from '../raw-route.ts'
import { bytes, emptyResponse, problems, type Routes, security, takenOver } from '../routes.ts'
import { TUS_PATH, tusHandler } from './tus.ts'

const uploadParams = z.object({ id: z.string().describe('As the Location of the upload ends') })

/** True for `/api/tus` and what is one level below it. */
export function isTusPath(url: string): boolean {
  return /^\/api\/tus(?:\/[^/]+)?$/.test(pathOf(url))
}

export function tusRouteOf(url: string): string {
  return pathOf(url) === TUS_PATH ? TUS_PATH : `${TUS_PATH}/{id}`
}

/** `/api/tus`, for its documentation and every spelling that is not answered at once. */
export function tusRoutes(app: Routes, service: Service): void {
  const onRequest = rawRoute(service, tusHandler(service))
  const common = { tags: ['tus'], security: [{}, ...security], consumes: [TUS_MEDIA_TYPE] }
  app.route({
    method: 'POST',
    url: TUS_PATH,
    schema: {
      ...common,
      operationId: 'openTusUpload',
      summary: 'tus: open an upload',
      description:
        'By tus 1.0.0 (https://tus.io). The upload has its part of the quota until it ends. It ends as a file, by termination, or a day ' +
        'after its last bytes. With a cid in Upload-Metadata the bytes are verified against it; without one, the answer to the last ' +
        'bytes says in X-Cid which CID (UnixFS, profile unixfs-v1-2025) they have. The body may have the first bytes.',
      headers: tusCreateHeaders,
      body: bytes,
      responseHeaders: { 201: ['Location', 'Tus-Resumable', 'Upload-Offset', 'Upload-Expires', 'X-Cid'] },
      response: {
        201: emptyResponse('Opened'),
        ...problems(400, 401, 403, 404, 408, 409, 411, 412, 413, 415, 422, 429, 451, 460, 502, 503, 507),
      },
    },
    onRequest,
    handler: takenOver,
  })
  app.route({
    method: 'PATCH',
    url: `${TUS_PATH}/:id`,
    schema: {
      ...common,
      operationId: 'continueTusUpload',
      summary: 'tus: add bytes to an upload',
      description:
        'Only for the credentials that opened it. Upload-Offset of the answer, and of HEAD, counts bytes that are durable. ' +
        'The last bytes are answered when the file is stored.',
      params: uploadParams,
      headers: tusPatchHeaders,
      body: bytes,
      responseHeaders: { 204: ['Tus-Resumable', 'Upload-Offset', 'Upload-Length', 'Upload-Expires', 'X-Cid'] },
      response: {
        204: emptyResponse('Added'),
        ...problems(400, 401, 403, 404, 408, 409, 411, 412, 413, 415, 422, 423, 429, 451, 460, 502, 503, 507),
      },
    },
    onRequest,
    handler: takenOver,
  })
  app.route({
    method: 'DELETE',
    url: `${TUS_PATH}/:id`,
    schema: {
      ...common,
      operationId: 'terminateTusUpload',
      summary: 'tus: terminate an upload',
      description: 'Its bytes are removed, and its part of the quota is returned. A file that it has become stays.',
      params: uploadParams,
      headers: tusCreateHeaders.pick({ 'tus-resumable': true }),
      response: { 204: emptyResponse('Terminated'), ...problems(401, 403, 404, 412, 503) },
    },
    onRequest,
    handler: takenOver,
  })
  app.route({
    method: ['HEAD', 'POST'],
    url: `${TUS_PATH}/:id`,
    schema: { hide: true },
    onRequest,
    handler: takenOver,
  })
}
