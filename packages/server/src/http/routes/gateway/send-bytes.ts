import { askedRange, lengthHeaders } from '../../byte-range.ts'
import { cutWhenBlocked } from '../../cut-when-blocked.ts'
import { requestIdOf } from '../../exchange.ts'
import { isNotModified } from '../../preconditions.ts'
import { sendObject } from '../../send-body.ts'
import type { ContentRequest } from './content-request.ts'
import { type GatewayHeaderFields, gatewayHeaders, sendNotModified } from './gateway-headers.ts'

/** Answers bytes that are in memory: whole, in part, as not modified, or by their head alone. */
export async function sendBytes(
  { asked, path, block }: ContentRequest,
  bytes: Uint8Array,
  fields: GatewayHeaderFields,
): Promise<void> {
  const { service, request, response, headers } = asked
  if (isNotModified(request, fields)) return sendNotModified(asked, fields.etag, fields.caching)
  const range = askedRange(request, fields, bytes.length, { several: 'first' })
  const head = {
    ...requestIdOf(request),
    ...gatewayHeaders(asked, { roots: path.roots, ...fields }),
    'accept-ranges': 'bytes',
    ...lengthHeaders(bytes.length, range),
    ...headers,
  }
  const begin = (): unknown => response.writeHead(range === undefined ? 200 : 206, head)
  if (request.method === 'HEAD') {
    begin()
    response.end()
    return
  }
  const send = () => sendObject(response, { kind: 'inline', bytes }, { begin, range })
  return block.place.kind === 'identity' ? send() : cutWhenBlocked(service, response, block.place.object, send)
}
