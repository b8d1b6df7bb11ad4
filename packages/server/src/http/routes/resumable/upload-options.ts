import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { corsHeaders } from '../../cors.ts'
import { requestIdOf } from '../../exchange.ts'

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
const ALLOWED_HEADERS = [
  'Authorization',
  'Content-Disposition',
  'Content-Type',
  'Tus-Resumable',
  'Upload-Checksum',
  'Upload-Complete',
  'Upload-Concat',
  'Upload-Defer-Length',
  'Upload-Draft-Interop-Version',
  'Upload-Length',
  'Upload-Metadata',
  'Upload-Offset',
  'X-HTTP-Method-Override',
  'X-Request-Id',
  'X-Requested-With',
].join(', ')

/** Answers `OPTIONS` for uploads, whether a client asks what is supported, or a browser before a request. */
export function answerUploadOptions(
  request: IncomingMessage,
  response: ServerResponse,
  supported: OutgoingHttpHeaders,
): void {
  const asked = request.headers['access-control-request-headers']
  const isPlain = asked !== undefined && /^[\w\-, ]{1,1024}$/.test(asked)
  response.writeHead(204, {
    ...requestIdOf(request),
    ...corsHeaders,
    'access-control-allow-methods': METHODS,
    'access-control-allow-headers': isPlain ? `${ALLOWED_HEADERS}, ${asked}` : ALLOWED_HEADERS,
    'access-control-max-age': '86400',
    'x-content-type-options': 'nosniff',
    ...supported,
  })
  response.end()
}
