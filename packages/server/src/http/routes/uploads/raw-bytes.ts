import type { IncomingMessage } from 'node:http'
import { LadeError } from '@lade/core/errors'
import { isMultipartForm } from '@lade/core/wire'
import { singleHeader } from '../../framing.ts'

/**
 * Refuses bodies in which the bytes of the file are packed: compressed, or inside a form. They would not have the content id, and a file that
 * was stored packed would be given back so.
 *
 * @throws {LadeError} `unsupported_encoding`, `unsupported_media_type`.
 */
export function requireRawBytes(request: IncomingMessage): void {
  const encoding = singleHeader(request, 'content-encoding')?.trim().toLowerCase() ?? ''
  if (encoding !== '' && encoding !== 'identity') {
    const reason = `Send the raw bytes: this body is ${printable(encoding)}.`
    throw new LadeError('unsupported_encoding', { encoding: printable(encoding), reason })
  }
  if (!isMultipartForm(request.headers['content-type'] ?? '')) return
  const contentType = 'multipart/form-data'
  const reason = `Send the raw bytes: this body is ${contentType}. With curl, use -T FILE -H 'Content-Type: TYPE' instead of -F.`
  throw new LadeError('unsupported_media_type', { contentType, reason })
}

function printable(text: string): string {
  return text.slice(0, 40).replace(/[^\x20-\x7e]/g, '?')
}
