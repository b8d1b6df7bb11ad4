import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { type ContentId, parseContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { HEADER } from '@lade/core/wire'
import type { ByteRange } from '../../../blobs/blob-store.ts'
import { sha256Hex } from '../../../hashing/sha256.ts'
import { userPrincipal } from '../../../quotas/principal.ts'
import type { FileRecord } from '../../../records/record-store.ts'
import { findFile } from '../../../retrieval/find-file.ts'
import { openObject } from '../../../retrieval/open-object.ts'
import { verifyShareLink } from '../../../tokens/share-link.ts'
import { requireToken } from '../../authenticate.ts'
import { parseRange } from '../../byte-range.ts'
import { noneMatchNames, rangeMayApply } from '../../entity-tag.ts'
import { exchangeOf } from '../../exchange.ts'
import { CONTENT_GUARD, cachingOf, contentHostOf, entityTagOf, fileHeaders } from '../../file-headers.ts'
import { singleHeader } from '../../framing.ts'
import type { HotFiles } from '../../hot-files.ts'
import type { Query } from '../../query.ts'
import { sendBlob } from '../../send-body.ts'
import type { Service } from '../../service.ts'

/**
 * `GET|HEAD /p/{cid}`.
 *
 * @throws {LadeError} every refusal; the caller answers it.
 */
export async function getFile(
  service: Service,
  hotFiles: HotFiles | undefined,
  request: IncomingMessage,
  response: ServerResponse,
  input: { readonly cidText: string; readonly query: Query; readonly headers: OutgoingHttpHeaders },
): Promise<void> {
  Object.assign(input.headers, CONTENT_GUARD)
  // A page of this origin must not install an uploaded file as its service worker (path gateway specification).
  if (request.headers['service-worker'] === 'script') {
    throw new LadeError('bad_request', { reason: 'Files here cannot be service workers.' })
  }
  const generation = hotFiles?.generation() ?? 0
  const cid = parseContentId(input.cidText, sha256Hex)
  if (service.blobs === undefined) throw new LadeError('storage_offline', { retryAfterSeconds: 60 })
  const file = await visibleFile(service, request, cid, input.query)

  const { query } = input
  const etag = entityTagOf(cid.text)
  const requestId = { [HEADER.requestId]: exchangeOf(request).requestId }
  if (noneMatchNames(singleHeader(request, 'if-none-match'), etag)) {
    response.writeHead(304, { ...requestId, etag, ...cachingOf(file), ...input.headers })
    response.end()
    return
  }
  const contentHost = contentHostOf(service.config)
  const isOwnOrigin = contentHost !== undefined && request.headers.host === contentHost
  const headers = fileHeaders(file, {
    cid: cid.text,
    filename: query.get('filename'),
    isDownload: query.get('download') === 'true',
    isOwnOrigin,
  })
  const asked = rangeMayApply(singleHeader(request, 'if-range'), etag) ? singleHeader(request, 'range') : undefined
  const answer = request.method === 'GET' ? parseRange(asked, file.sizeBytes) : ({ kind: 'whole' } as const)
  if (answer.kind === 'unsatisfiable') throw new LadeError('range_not_satisfiable', { size: file.sizeBytes })
  const range = answer.kind === 'part' ? answer.range : undefined
  // What the request brings comes last: a token in the query must not be cached along with the file.
  const head = { ...requestId, ...headers, ...lengthHeaders(file, range), ...input.headers }
  const status = range === undefined ? 200 : 206
  if (request.method === 'HEAD') {
    response.writeHead(status, head)
    response.end()
    return
  }

  const object = await openObject({ records: service.records, blobs: service.blobs }, file)
  response.writeHead(status, head)
  if (object.kind === 'blob') return sendBlob(response, object.body, range)
  const { bytes } = object
  response.end(range === undefined ? bytes : bytes.subarray(range.offset, range.offset + range.length))
  const isPlain = range === undefined && query.size === 0 && file.visibility === 'public'
  if (isPlain && request.url !== undefined && isOwnOrigin === (contentHost !== undefined)) {
    const kept = { ...headers, ...lengthHeaders(file, undefined) }
    hotFiles?.keep(request.url, { headers: kept, bytes, expiresAt: file.expiresAt, generation })
  }
}

/** The file as this caller may see it: public ones for anybody, private ones by share link or by their owner's token. */
async function visibleFile(
  service: Service,
  request: IncomingMessage,
  cid: ContentId,
  query: Query,
): Promise<FileRecord> {
  const now = service.now()
  const share = query.get('share')
  if (share !== undefined) return sharedFile(service, cid, share)
  const found = await findFile(service.records, { cid, now })
  if (found !== 'private') return found
  const claims = await requireToken(service, request, query, 'get')
  const own = await findFile(service.records, { cid, now, principal: userPrincipal(claims.sub) })
  // Whether somebody else has a private file here is nobody's business.
  if (own === 'private') throw new LadeError('not_found', {})
  return own
}

async function sharedFile(service: Service, cid: ContentId, share: string): Promise<FileRecord> {
  const now = service.now()
  const grant = verifyShareLink({ key: service.keys.current(), cid: cid.key, share, now: new Date(now) })
  const file = await service.records.files.bySequence(Number(grant.fileId))
  if (file === undefined || !grant.isFrom(file.principal)) throw new LadeError('invalid_share_link', {})
  if (file.end !== null || file.expiresAt <= now) throw new LadeError('gone', { reason: file.end ?? 'expired' })
  return file
}

function lengthHeaders(file: FileRecord, range: ByteRange | undefined): Record<string, string> {
  if (range === undefined) return { 'content-length': String(file.sizeBytes) }
  const { offset, length } = range
  return {
    'content-length': String(length),
    'content-range': `bytes ${offset}-${offset + length - 1}/${file.sizeBytes}`,
  }
}
