import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { parseContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { uploadedDeal } from '../../../deals/uploaded-deal.ts'
import { uploadResultOf } from '../../../files/file-entry.ts'
import type { Appended } from '../../../open-uploads/append-request.ts'
import { createOpenUpload } from '../../../open-uploads/create-open-upload.ts'
import {
  askAboutOpenUpload,
  endOpenUpload,
  noSuchUpload,
  terminateOpenUpload,
} from '../../../open-uploads/open-uploads.ts'
import { headOf, intentFrom } from '../../../open-uploads/upload-intent.ts'
import type { FileRecord, OpenUploadRecord } from '../../../records/record-store.ts'
import type { UploadTier } from '../../../uploads/upload-tier.ts'
import { UPLOAD_HINT } from '../../known-paths.ts'
import { pathOf, type Query } from '../../query.ts'
import { sendJson } from '../../respond.ts'
import type { Service } from '../../service.ts'
import { guardChange } from '../../session-request.ts'
import { UPLOAD_PATH } from '../../upload-path.ts'
import type { RawHandler } from '../raw-route.ts'
import { settleStaged } from '../uploads/settle-staged.ts'
import { tierOf } from '../uploads/tier-of.ts'
import { appendBody, bodyBytesOf, withStorage } from './append-body.ts'
import {
  completeField,
  intentOfRequest,
  interopVersionOf,
  isCompleteOf,
  limitField,
  requirePartialUpload,
} from './resumable-fields.ts'
import { sendFields } from './send-fields.ts'
import { byteCount, requiredByteCount } from './upload-fields.ts'

interface ResumableRequest {
  readonly service: Service
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly query: Query
  readonly headers: OutgoingHttpHeaders
}

/**
 * `POST` or `PUT /api/upload` with `Upload-Complete`: an upload that can be resumed, by draft-ietf-httpbis-resumable-upload of interop
 * version 8. Version 6 is understood, too. A client of one of them gets a 104 response with the address of the upload before its body is read.
 *
 * @throws {LadeError} every refusal; the caller answers it.
 */
export const createResumableUpload = (service: Service): RawHandler => {
  return async (request, response, { query, headers }) => {
    guardChange(service, request)
    const asked: ResumableRequest = { service, request, response, query, headers }
    const isLast = isCompleteOf(request) === true
    const bodyBytes = bodyBytesOf(request)
    const intent = intentOfRequest(request, query, service.config.opaqueIds)
    const said = byteCount(request, 'upload-length')
    const ofBody = isLast ? bodyBytes : undefined
    if (said !== undefined && ofBody !== undefined && said !== ofBody) {
      throw new LadeError('bad_request', { reason: `Upload-Length is ${said}, but the body has ${ofBody} bytes.` })
    }
    const sizeBytes = said ?? ofBody
    const tier = await tierOf(service, request, query)
    const upload = await createOpenUpload(withStorage(service), {
      tier,
      intent,
      kind: 'whole',
      sizeBytes,
      metadata: '{}',
    })
    const { id } = upload
    const location = `${service.publicUrl()}${UPLOAD_PATH}/${id}`
    const limits = limitField(service, (upload.expiresAt - service.now()) / 1000)
    // Asks for the address alone.
    if (bodyBytes === 0 && !isLast) {
      headers.location = location
      request.resume()
      return sendFields(
        asked,
        201,
        stateOf(service, { ...upload, durableBytes: 0, place: '', writer: undefined, cid: undefined }),
      )
    }
    const isTold = tellOfResumption(asked, { location, ...limits })
    Object.assign(headers, { location, ...limits })
    try {
      const appended = await appendBody(service, request, response, {
        said: { id, offset: 0, isLast },
        tier,
        headers,
      })
      await answer(asked, 201, appended, tier)
    } catch (error) {
      delete headers.location
      // Its sender does not know where to go on.
      if (!isTold) await endOpenUpload(service, id).catch(() => {})
      Object.assign(headers, completeField(await isOver(service, id)))
      throw error
    }
  }
}

/** `HEAD`, `PATCH` and `DELETE` of `/api/upload/{id}`: what there is of an upload, more of it, and its end. */
export function resumableUploadHandler(service: Service): RawHandler {
  return async (request, response, { query, headers }) => {
    guardChange(service, request)
    const asked: ResumableRequest = { service, request, response, query, headers }
    const id = pathOf(request.url ?? '').slice(UPLOAD_PATH.length + 1)
    switch (request.method) {
      case 'HEAD':
        return tell(asked, id)
      case 'PATCH':
        return append(asked, id)
      case 'DELETE': {
        const { principal } = await tierOf(service, request, query)
        await terminateOpenUpload(service, { id, principal })
        request.resume()
        return sendFields(asked, 204, {})
      }
      default:
        throw new LadeError('method_not_allowed', {
          allow: ['DELETE', 'HEAD', 'PATCH'],
          ...(request.method !== undefined && { method: request.method }),
          ...((request.method === 'POST' || request.method === 'PUT') && { hint: UPLOAD_HINT }),
        })
    }
  }
}

async function tell(asked: ResumableRequest, id: string): Promise<void> {
  const { service, request, query } = asked
  for (const name of ['upload-offset', 'upload-complete', 'upload-length']) {
    if (request.headers[name] !== undefined) {
      throw new LadeError('bad_request', { reason: `A request for the offset must not have ${name}.` })
    }
  }
  const { principal } = await tierOf(service, request, query)
  sendFields(asked, 204, stateOf(service, await askAboutOpenUpload(service, { id, principal })))
}

async function append(asked: ResumableRequest, id: string): Promise<void> {
  const { service, request, response, query, headers } = asked
  Object.assign(headers, completeField(false))
  const isLast = isCompleteOf(request)
  if (isLast === undefined) {
    throw new LadeError('bad_request', { reason: 'Upload-Complete must be ?1 or ?0.' })
  }
  requirePartialUpload(request)
  const offset = requiredByteCount(request, 'upload-offset')
  const sizeBytes = byteCount(request, 'upload-length')
  const tier = await tierOf(service, request, query)
  try {
    const said = { id, offset, sizeBytes, isLast }
    await answer(asked, 204, await appendBody(service, request, response, { said, tier, headers }), tier)
  } catch (error) {
    if (LadeError.has(error, 'offset_mismatch')) headers['upload-offset'] = String(error.evidence.expectedOffset)
    if (LadeError.has(error, 'not_found')) delete headers['upload-complete']
    else Object.assign(headers, completeField(await isOver(service, id)))
    throw error
  }
}

/** True for an upload that has ended, so that nothing is to be resumed. */
async function isOver({ records, now }: Service, id: string): Promise<boolean> {
  const upload = await records.openUploads.find({ id, now: now() }).catch(() => undefined)
  return upload === undefined
}

/** Answers what an upload has come to: its state, or what an upload in one request is answered, once it is complete. */
async function answer(
  asked: ResumableRequest,
  status: number,
  { upload, staged }: Appended,
  tier: UploadTier,
): Promise<void> {
  const { service, request, response, headers } = asked
  if (upload.cid === undefined) return sendFields(asked, status, stateOf(service, upload))
  let file: FileRecord | undefined
  if (staged === undefined) file = await storedFile(service, upload)
  else {
    const head = headOf(intentFrom(upload.head), { id: upload.id, sizeBytes: upload.sizeBytes })
    file = await settleStaged(service, { staged, head, tier }, headers)
  }
  const deal = await uploadedDeal(service, file)
  const result = uploadResultOf(file, deal, upload.cid, service.retrievalUrl, service.filesNow())
  delete headers.location
  sendJson(request, response, 200, result, { ...headers, ...stateOf(service, upload) })
}

/** The file that an upload became before: the answer that said so may have been lost. */
async function storedFile(service: Service, { principal, cid = '' }: OpenUploadRecord): Promise<FileRecord> {
  const { key } = parseContentId(cid, sha256Hex)
  const file = await service.records.files.latest({ principal, key, now: service.now() })
  if (file === undefined) throw noSuchUpload()
  return file
}

function stateOf(service: Service, upload: OpenUploadRecord): OutgoingHttpHeaders {
  const { durableBytes, sizeBytes, cid, expiresAt } = upload
  return {
    ...completeField(cid !== undefined),
    'upload-offset': String(durableBytes),
    ...(sizeBytes !== undefined && { 'upload-length': String(sizeBytes) }),
    ...limitField(service, (expiresAt - service.now()) / 1000),
    ...(cid !== undefined && { 'x-cid': cid }),
  }
}

/** What proxies say of themselves. Some take a 104 response for the final one, or wait for ever. */
const OF_PROXIES = ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip']

/**
 * Sends a 104 response, which has the address of the upload. Only to a client whose interop version is spoken here, and over no proxy.
 *
 * @returns false when nothing was sent.
 */
function tellOfResumption({ request, response }: ResumableRequest, fields: OutgoingHttpHeaders): boolean {
  const version = interopVersionOf(request)
  // Node.js has no call for it. A response has its socket once those of all requests before are out.
  const { socket } = response
  const isOverProxy = OF_PROXIES.some((name) => request.headers[name] !== undefined)
  if (version === undefined || isOverProxy || socket === null || response.headersSent) return false
  const lines = Object.entries({ ...fields, 'upload-draft-interop-version': version })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.write(`HTTP/1.1 104 Upload Resumption Supported\r\n${head}\r\n`)
  return true
}
