import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { LadeError } from '@lade/core/errors'
import { essenceOf, MAX_TUS_PARTS, TUS_CHECKSUMS, TUS_EXTENSIONS, TUS_MEDIA_TYPE, TUS_VERSION } from '@lade/core/wire'
import { BodyBill } from '@lade/node/budget/body-bill'
import { concatenateUploads } from '../../../open-uploads/concatenate-uploads.ts'
import { createOpenUpload } from '../../../open-uploads/create-open-upload.ts'
import { askAboutOpenUpload, endOpenUpload, terminateOpenUpload } from '../../../open-uploads/open-uploads.ts'
import { headOf, intentFrom } from '../../../open-uploads/upload-intent.ts'
import type { OpenUploadRecord } from '../../../records/record-store.ts'
import type { StagedUpload } from '../../../uploads/file-commit.ts'
import type { UploadTier } from '../../../uploads/upload-tier.ts'
import { singleHeader } from '../../framing.ts'
import { pathOf, type Query } from '../../query.ts'
import type { Service } from '../../service.ts'
import { guardChange } from '../../session-request.ts'
import type { RawHandler } from '../raw-route.ts'
import { settleStaged } from '../uploads/settle-staged.ts'
import { tierOf } from '../uploads/tier-of.ts'
import { appendBody, bodyBytesOf, withStorage } from './append-body.ts'
import { sendFields } from './send-fields.ts'
import { intentOf, metadataOf } from './tus-metadata.ts'
import { byteCount, checksumOf, requiredByteCount } from './upload-fields.ts'

export const TUS_PATH = '/api/tus'

/** What a tus upload is told again, as the records keep it. */
interface TusFacts {
  readonly metadata?: string | undefined
  readonly concat?: string | undefined
}

interface TusRequest {
  readonly service: Service
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly query: Query
  readonly headers: OutgoingHttpHeaders
}

/** tus 1.0.0: `POST /api/tus` opens an upload, `HEAD`, `PATCH` and `DELETE` of `/api/tus/{id}` are about one. */
export function tusHandler(service: Service): RawHandler {
  return async (request, response, { query, headers }) => {
    headers['tus-resumable'] = TUS_VERSION
    headers['cache-control'] = 'no-store'
    guardChange(service, request)
    if (request.headers['tus-resumable'] !== TUS_VERSION) {
      throw new LadeError('unsupported_tus_version', { supported: TUS_VERSION })
    }
    const asked: TusRequest = { service, request, response, query, headers }
    const id = pathOf(request.url ?? '').slice(TUS_PATH.length + 1)
    switch (methodOf(request)) {
      case 'POST':
        return id === '' ? create(asked) : refuseMethod(request, ['DELETE', 'HEAD', 'PATCH'])
      case 'HEAD':
        return id === '' ? refuseMethod(request, ['POST']) : tell(asked, id)
      case 'PATCH':
        return id === '' ? refuseMethod(request, ['POST']) : append(asked, id)
      case 'DELETE':
        return id === '' ? refuseMethod(request, ['POST']) : terminate(asked, id)
      default:
        return refuseMethod(request, id === '' ? ['POST'] : ['DELETE', 'HEAD', 'PATCH'])
    }
  }
}

/** The method, or the one in place of it that clients send where theirs is not let through. */
function methodOf(request: IncomingMessage): string {
  const override = request.method === 'POST' ? singleHeader(request, 'x-http-method-override') : undefined
  return (override ?? request.method ?? '').toUpperCase()
}

function refuseMethod({ method }: IncomingMessage, allow: readonly string[]): never {
  throw new LadeError('method_not_allowed', { allow, ...(method !== undefined && { method }) })
}

async function create(asked: TusRequest): Promise<void> {
  const { service, request, response, query, headers } = asked
  const concat = singleHeader(request, 'upload-concat')?.trim()
  const metadata = singleHeader(request, 'upload-metadata')
  const intent = intentOf(metadataOf(metadata ?? ''), { query, opaqueIds: service.config.opaqueIds })
  const facts = JSON.stringify({ metadata, concat } satisfies TusFacts)
  if (concat !== undefined && concat !== 'partial') return concatenate(asked, { concat, intent, facts })

  const sizeBytes = byteCount(request, 'upload-length')
  const isDeferred = singleHeader(request, 'upload-defer-length')
  if (isDeferred !== undefined && isDeferred !== '1') {
    throw new LadeError('bad_request', { reason: 'Upload-Defer-Length must be 1.' })
  }
  if ((sizeBytes === undefined) === (isDeferred === undefined)) {
    throw new LadeError('bad_request', { reason: 'Send either Upload-Length or "Upload-Defer-Length: 1".' })
  }
  const hasBody = bodyBytesOf(request) !== 0
  if (hasBody) requireMediaType(request)
  const checksum = checksumOf(request)
  const tier = await tierOf(service, request, query)
  const kind = concat === undefined ? 'whole' : 'partial'
  const upload = await createOpenUpload(withStorage(service), { tier, intent, kind, sizeBytes, metadata: facts })
  const { id, expiresAt } = upload
  headers.location = locationOf(service, id)
  if (!hasBody && sizeBytes !== 0) {
    request.resume()
    return sendFields(asked, 201, { 'upload-expires': dateOf(expiresAt) })
  }
  try {
    const said = { id, offset: 0, sizeBytes, checksum }
    const appended = await appendBody(service, request, response, { said, tier, headers })
    await answer(asked, 201, { ...appended, tier })
  } catch (error) {
    // Its sender was not told where it is.
    delete headers.location
    await endOpenUpload(service, id).catch(() => {})
    throw error
  }
}

async function concatenate(
  asked: TusRequest,
  {
    concat,
    intent,
    facts,
  }: { readonly concat: string; readonly intent: ReturnType<typeof intentOf>; readonly facts: string },
): Promise<void> {
  const { service, request, query, headers } = asked
  const [, list = ''] = /^final; ?(.+)$/.exec(concat) ?? []
  const ids = list
    .split(' ')
    .filter((url) => url !== '')
    .map((url) => pathOf(url).split('/').at(-1) ?? '')
  if (ids.length === 0 || ids.length > MAX_TUS_PARTS) {
    throw new LadeError('bad_request', {
      reason: `Upload-Concat must be partial, or final; and the URLs of 1 to ${MAX_TUS_PARTS} partial uploads.`,
    })
  }
  if (byteCount(request, 'upload-length') !== undefined) {
    throw new LadeError('bad_request', {
      reason: 'A concatenation has the size of its parts. Leave Upload-Length out.',
    })
  }
  const tier = await tierOf(service, request, query)
  const bill = new BodyBill({ budget: service.budget, principal: tier.principal })
  request.resume()
  const { signal } = new AbortController()
  const done = await concatenateUploads(withStorage(service), { ids, tier, intent, metadata: facts, bill, signal })
  headers.location = locationOf(service, done.upload.id)
  const { sizeBytes, cid } = done.staged.file
  const upload = { ...done.upload, durableBytes: sizeBytes, sizeBytes, place: '', writer: undefined, cid }
  await answer(asked, 201, { upload, staged: done.staged, tier })
}

async function tell(asked: TusRequest, id: string): Promise<void> {
  const { service, request, query } = asked
  const { principal } = await tierOf(service, request, query)
  const upload = await askAboutOpenUpload(service, { id, principal })
  const { metadata, concat } = JSON.parse(upload.metadata) as TusFacts
  // Where a concatenation is not done, there is no offset.
  const hasOffset = upload.kind !== 'final' || upload.cid !== undefined
  sendFields(asked, 200, {
    ...(hasOffset && offsetOf(upload)),
    ...(upload.sizeBytes === undefined && { 'upload-defer-length': '1' }),
    ...(metadata !== undefined && { 'upload-metadata': metadata }),
    ...(concat !== undefined && { 'upload-concat': concat }),
  })
}

async function append(asked: TusRequest, id: string): Promise<void> {
  const { service, request, response, query, headers } = asked
  requireMediaType(request)
  const offset = requiredByteCount(request, 'upload-offset')
  const sizeBytes = byteCount(request, 'upload-length')
  const checksum = checksumOf(request)
  const tier = await tierOf(service, request, query)
  const said = { id, offset, sizeBytes, checksum }
  const appended = await appendBody(service, request, response, { said, tier, headers })
  await answer(asked, 204, { ...appended, tier })
}

async function terminate(asked: TusRequest, id: string): Promise<void> {
  const { service, request, query } = asked
  const { principal } = await tierOf(service, request, query)
  await terminateOpenUpload(service, { id, principal })
  request.resume()
  sendFields(asked, 204, {})
}

async function answer(
  asked: TusRequest,
  status: number,
  {
    upload,
    staged,
    tier,
  }: { readonly upload: OpenUploadRecord; readonly staged?: StagedUpload | undefined; readonly tier: UploadTier },
): Promise<void> {
  if (staged !== undefined) {
    const { sizeBytes } = staged.file
    const head = headOf(intentFrom(upload.head), { id: upload.id, sizeBytes })
    await settleStaged(asked.service, { staged, head, tier }, asked.headers)
  }
  sendFields(asked, status, offsetOf(upload))
}

function offsetOf({ durableBytes, sizeBytes, cid, expiresAt }: OpenUploadRecord): OutgoingHttpHeaders {
  return {
    'upload-offset': String(durableBytes),
    ...(sizeBytes !== undefined && { 'upload-length': String(sizeBytes) }),
    // What has become a file does not expire as an upload.
    ...(cid === undefined ? { 'upload-expires': dateOf(expiresAt) } : { 'x-cid': cid }),
  }
}

function requireMediaType(request: IncomingMessage): void {
  const contentType = request.headers['content-type'] ?? ''
  if (essenceOf(contentType) === TUS_MEDIA_TYPE) return
  const shown = contentType.slice(0, 60).replace(/[^\x20-\x7e]/g, '?')
  const reason = `The Content-Type of bytes for an upload must be ${TUS_MEDIA_TYPE}.`
  throw new LadeError('unsupported_media_type', { contentType: shown, reason })
}

function locationOf(service: Service, id: string): string {
  return `${service.publicUrl()}${TUS_PATH}/${id}`
}

function dateOf(epochMs: number): string {
  return new Date(epochMs).toUTCString()
}

/** What `OPTIONS` tells of tus. */
export function tusOptions({ config }: Service): OutgoingHttpHeaders {
  return {
    'tus-resumable': TUS_VERSION,
    'tus-version': TUS_VERSION,
    'tus-extension': TUS_EXTENSIONS.join(','),
    'tus-checksum-algorithm': TUS_CHECKSUMS.join(','),
    'tus-max-size': String(Math.max(config.token.fileBytes, config.sponsored.fileBytes)),
  }
}
