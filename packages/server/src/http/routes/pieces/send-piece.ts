import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { ContentId } from '@lade/core/content'
import type { BlobStore } from '../../../blobs/blob-store.ts'
import { offeredPiece } from '../../../placement/offered-piece.ts'
import { askedRange, lengthHeaders } from '../../byte-range.ts'
import { requestIdOf } from '../../exchange.ts'
import { CONTENT_GUARD, publicCaching } from '../../file-headers.ts'
import { isNotModified } from '../../preconditions.ts'
import { atReadersPace } from '../../readers-pace.ts'
import { sendChunks } from '../../send-body.ts'
import type { Service } from '../../service.ts'

/**
 * Answers a piece that is no file by itself, for provers to fetch: bytes that are just being handed over, a slice, an aggregate.
 *
 * @returns false when there is no such piece, and nothing was answered.
 * @throws {LadeError} `precondition_failed`, `range_not_satisfiable`, `storage_failed`.
 */
export async function sendPiece(
  service: Service & { readonly blobs: BlobStore },
  request: IncomingMessage,
  response: ServerResponse,
  { cid, headers }: { readonly cid: ContentId; readonly headers: OutgoingHttpHeaders },
): Promise<boolean> {
  const piece = cid.form === 'piece-v2' ? await offeredPiece(service, cid.text) : undefined
  if (piece === undefined) return false
  const { sizeBytes } = piece
  const etag = `"${cid.text}"`
  const caching = publicCaching({ maxSeconds: service.config.retrieval.cacheSeconds, now: service.now() })
  if (isNotModified(request, { etag })) {
    response.writeHead(304, { ...requestIdOf(request), etag, 'cache-control': caching, ...headers }).end()
    return true
  }
  const range = askedRange(request, { etag }, sizeBytes)
  const head = {
    ...requestIdOf(request),
    ...CONTENT_GUARD,
    'content-type': 'application/octet-stream',
    'accept-ranges': 'bytes',
    etag,
    'cache-control': caching,
    ...lengthHeaders(sizeBytes, range),
    ...headers,
  }
  const begin = (): void => void response.writeHead(range === undefined ? 200 : 206, head)
  if (request.method !== 'HEAD') {
    await sendChunks(response, atReadersPace(piece, range), begin)
    return true
  }
  await piece.check()
  begin()
  response.end()
  return true
}
