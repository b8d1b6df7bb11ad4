import { MAX_BLOCK_BYTES } from '@lade/core/content'
import { RAW_BLOCK_MEDIA_TYPE } from '@lade/core/wire'
import type { CID } from 'multiformats/cid'
import { findRoot } from '../../../gateway/find-root.ts'
import { followPath } from '../../../gateway/follow-path.ts'
import type { FoundBlock } from '../../../retrieval/block-source.ts'
import type { OpenObject } from '../../../retrieval/open-bytes.ts'
import { openObject } from '../../../retrieval/open-object.ts'
import { askedRange, lengthHeaders } from '../../byte-range.ts'
import { cutWhenBlocked } from '../../cut-when-blocked.ts'
import { requestIdOf } from '../../exchange.ts'
import { isNotModified } from '../../preconditions.ts'
import { sendObject } from '../../send-body.ts'
import { readCarOptions } from './car-options.ts'
import { gatewayHeaders, sendNotModified } from './gateway-headers.ts'
import { type GatewayRequest, isOnlyIfCached, withReader } from './gateway-request.ts'
import { missingName } from './missing-name.ts'

/** A block to be sent, and how it was come to. */
interface AskedBlock {
  readonly found: FoundBlock
  readonly root: FoundBlock
  readonly roots?: readonly CID[]
  /** The CID of the block, as it was asked for where it was. */
  readonly name: string
}

/**
 * `GET|HEAD /ipfs/{cid}[/{path}]?format=raw`: one block, whole or in part.
 *
 * @throws {LadeError} every refusal; the caller answers it.
 */
export async function getBlock(asked: GatewayRequest): Promise<void> {
  const { service, request, source, target } = asked
  // They mean nothing for one block, but a wrong one is an error in either format.
  readCarOptions(asked.query, asked.asked.carParameters)
  const input = { ...target, now: service.now(), onlyIfCached: isOnlyIfCached(request) }
  if (target.segments.length === 0) {
    const found = await findRoot(service.records, source, input)
    return sendBlock(asked, { found, root: found, name: target.id.text })
  }
  await withReader(asked, {}, async (reader) => {
    const { root, roots, end: found, missingSegment } = await followPath({ ...service, source, reader }, input)
    if (found === undefined) throw missingName(missingSegment)
    await sendBlock(asked, { found, root, roots, name: found.cid.toString() })
  })
}

/** Sends a block that was found. */
async function sendBlock(asked: GatewayRequest, { found, root, roots, name }: AskedBlock): Promise<void> {
  const { service, request, response } = asked
  const etag = `"${name}.raw"`
  const caching = await asked.cachingOf(root === found ? [root] : [root, found])
  if (isNotModified(request, { etag })) return sendNotModified(asked, etag, caching)

  const { sizeBytes } = found
  const range = askedRange(request, { etag }, sizeBytes)
  const fields = { contentType: RAW_BLOCK_MEDIA_TYPE, etag, caching, name: `${name}.bin`, ...(roots && { roots }) }
  const head = {
    ...requestIdOf(request),
    ...gatewayHeaders(asked, fields),
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
