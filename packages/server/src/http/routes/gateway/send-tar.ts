import { LadeError } from '@lade/core/errors'
import { folderTar } from '../../../gateway/folder-tar.ts'
import type { GatewayResource } from '../../../gateway/gateway-resource.ts'
import { cutWhenBlocked } from '../../cut-when-blocked.ts'
import { exchangeOf, requestIdOf } from '../../exchange.ts'
import { isNotModified } from '../../preconditions.ts'
import { sendChunks } from '../../send-body.ts'
import { blocksOf, type ContentRequest, contentName } from './content-request.ts'
import { gatewayHeaders, sendNotModified } from './gateway-headers.ts'
import { FORMAT_MEDIA_TYPES } from './response-format.ts'

/**
 * A file or folder as a TAR archive, made while it is sent. What cannot be read further on cuts the connection.
 *
 * @throws {LadeError} as `folderTar`, before the head is sent.
 */
export async function sendTar(content: ContentRequest, resource: GatewayResource): Promise<void> {
  const { asked, reader, path, block } = content
  const { service, request, response, target } = asked
  const cid = contentName(content)
  const chunks = folderTar(reader, resource, target.segments.at(-1) ?? cid)
  // Weak, since other gateways write the same tree in other ways.
  const etag = `W/"${cid}.x-tar"`
  const caching = await asked.cachingOf(blocksOf(content))
  if (isNotModified(request, { etag })) return sendNotModified(asked, etag, caching)
  const fields = { contentType: FORMAT_MEDIA_TYPES.tar, etag, caching, name: `${cid}.tar`, roots: path.roots }
  const head = { ...requestIdOf(request), ...gatewayHeaders(asked, fields), 'accept-ranges': 'none', ...asked.headers }
  const begin = (): unknown => response.writeHead(200, head)
  if (request.method === 'HEAD') {
    begin()
    response.end()
    return
  }
  const send = () => sendChunks(response, chunks, begin)
  try {
    await (block.place.kind === 'identity' ? send() : cutWhenBlocked(service, response, block.place.object, send))
  } catch (error) {
    if (!response.headersSent || !LadeError.is(error)) throw error
    // The client has been told, by the cut; this is for the log.
    exchangeOf(request).notes.stoppedAt = error.message
  }
}
