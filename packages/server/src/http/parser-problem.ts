import { LadeError } from '@lade/core/errors'
import { MAX_HEAD_BYTES } from '@lade/core/wire'

/** What Node's parser refuses, in our own words. Its codes are those of llhttp. */
const FAULTS: Readonly<Record<string, string>> = {
  HPE_UNEXPECTED_CONTENT_LENGTH: 'Two Content-Length headers. Send one.',
  HPE_INVALID_CONTENT_LENGTH: 'Content-Length must be a decimal number without sign, spaces or leading zeros.',
  HPE_INVALID_TRANSFER_ENCODING:
    'A request cannot have both Transfer-Encoding and Content-Length. Send only Content-Length.',
  HPE_INVALID_METHOD:
    'The request does not start with an HTTP method such as GET. If it is https, put a TLS proxy in front: this port does not speak TLS.',
  HPE_INVALID_URL:
    'The request target has a character that is not allowed in it. Percent-encode the path and the query.',
  HPE_INVALID_CONSTANT: 'The request line must be a method, a path and HTTP/1.1. Percent-encode spaces in the path.',
  HPE_INVALID_VERSION: 'The request line must end in HTTP/1.1.',
  HPE_INVALID_HEADER_TOKEN: 'A header has a character that is not allowed in it. Percent-encode or remove it.',
  HPE_CR_EXPECTED: 'A line of the request head does not end in CRLF.',
  HPE_LF_EXPECTED: 'A line of the request head does not end in CRLF.',
  HPE_INVALID_CHUNK_SIZE: 'The size of a chunk of the body is not a hexadecimal number.',
  HPE_INVALID_EOF_STATE: 'The connection was closed in the middle of the request. Send it again.',
}

/** The error for bytes that Node's parser made no request of. */
export function parserProblem({
  code = '',
  reason,
}: {
  readonly code?: string | undefined
  readonly reason?: string
}): LadeError {
  if (code === 'HPE_HEADER_OVERFLOW') return new LadeError('headers_too_large', { limitBytes: MAX_HEAD_BYTES })
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new LadeError('request_timeout', {})
  // One code for two faults, which the parser tells apart in words.
  if (reason?.includes('Transfer-Encoding') === true) return malformed(FAULTS.HPE_INVALID_TRANSFER_ENCODING)
  return malformed(FAULTS[code])
}

function malformed(reason = 'The received bytes are not an HTTP/1.1 request.'): LadeError<'bad_request'> {
  return new LadeError('bad_request', { reason })
}
