import { MAX_BLOCK_BYTES } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { RAW_BLOCK_MEDIA_TYPE } from '@lade/core/wire'
import { findRoot } from '../../../gateway/find-root.ts'
import type { FoundBlock } from '../../../retrieval/block-source.ts'
import type { OpenObject } from '../../../retrieval/open-bytes.ts'
import { openObject } from '../../../retrieval/open-object.ts'
import { askedRange, lengthHeaders } from '../../byte-range.ts'
import { cutWhenBlocked } from '../../cut-when-blocked.ts'
import { requestIdOf } from '../../exchange.ts'
import { isNotModified } from '../../preconditions.ts'
import { sendObject } from '../../send-body.ts'
import { readCarOptions } from './car-options.ts'
import { cachingOf, gatewayHeaders, sendNotModified } from './gateway-headers.ts'
import { type GatewayRequest, isOnlyIfCached } from './gateway-request.ts'

/**
 * `GET|HEAD /ipfs/{cid}?format=raw`: one block, whole or in part.
 *
 * @throws {LadeError} every refusal; the caller answers it.
 */
export async function getBlock(asked: GatewayRequest): Promise<void> {
  const { service, request, response, source, target } = asked
  if (target.segments.length > 0) {
    throw new LadeError('bad_request', { reason: 'Request a block by its own CID, without a path.' })
  }
  // They mean nothing for one block, but a wrong one is an error in either format.
  readCarOptions(asked.query, asked.asked.carParameters)
  const onlyIfCached = isOnlyIfCached(request)
  const found = await findRoot(service.records, source, { ...target, now: service.now(), onlyIfCached })
  const etag = `"${target.id.text}.raw"`
  const caching = await cachingOf(asked, found)
  if (isNotModified(request, { etag })) return sendNotModified(asked, etag, caching)

  const { sizeBytes } = found
  const range = askedRange(request, { etag }, sizeBytes)
  const head = {
    ...requestIdOf(request),
    ...gatewayHeaders(asked, { contentType: RAW_BLOCK_MEDIA_TYPE, etag, caching }),
    'accept-ranges': 'bytes',
    ...lengthHeaders(sizeBytes, range),
    ...asked.headers,
  }
  const status = range === undefined ? 200 : 206
  const object = await openBlock(asked, found)
  if (request.method === 'HEAD') {
    if (object.kind === 'blob') await object.body.close()
    response.writeHead(status, head)
    response.end()
    return
  }
  const send = () => sendObject(response, object, { begin: () => response.writeHead(status, head), range })
  return found.place.kind === 'identity' ? send() : cutWhenBlocked(service, response, found.place.object, send)
}

/** A block, checked, in memory; bytes that are more than blocks may have are streamed, and checked by whoever reads them. */
async function openBlock({ service, source }: GatewayRequest, found: FoundBlock): Promise<OpenObject> {
  const { place, sizeBytes } = found
  const { records, blobs } = service
  if (place.kind === 'object' && sizeBytes > MAX_BLOCK_BYTES && blobs !== undefined) {
    return openObject({ records, blobs }, place)
  }
  return { kind: 'inline', bytes: await source.read(found) }
}
