import type { IncomingMessage } from 'node:http'
import { LadeError } from '@lade/core/errors'
import { TUS_CHECKSUMS } from '@lade/core/wire'
import type { BodyChecksum } from '../../../open-uploads/append-request.ts'
import { singleHeader } from '../../framing.ts'

/**
 * A header that is a number of bytes; undefined when it is absent.
 *
 * @throws {LadeError} `bad_request`.
 */
export function byteCount(request: IncomingMessage, name: string): number | undefined {
  const text = singleHeader(request, name)?.trim()
  if (text === undefined) return undefined
  const value = Number(text)
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(value)) return value
  throw new LadeError('bad_request', { reason: `${canonical(name)} must be a number of bytes, such as 1048576.` })
}

/** The same of a header that must be there. */
export function requiredByteCount(request: IncomingMessage, name: string): number {
  const value = byteCount(request, name)
  if (value === undefined) throw new LadeError('bad_request', { reason: `${canonical(name)} is missing.` })
  return value
}

/**
 * What `Upload-Checksum` says of the body.
 *
 * @throws {LadeError} `bad_request` for an algorithm that is not supported, and for a digest that is none.
 */
export function checksumOf(request: IncomingMessage): BodyChecksum | undefined {
  const text = singleHeader(request, 'upload-checksum')
  if (text === undefined) return undefined
  const [, name = '', encoded = ''] = /^([\w-]+) ([A-Za-z0-9+/]+={0,2})$/.exec(text.trim()) ?? []
  const algorithm = TUS_CHECKSUMS.find((known) => known === name.toLowerCase())
  if (algorithm !== undefined) return { algorithm, digest: Buffer.from(encoded, 'base64') }
  throw new LadeError('bad_request', {
    reason: `Upload-Checksum must be an algorithm (${TUS_CHECKSUMS.join(', ')}), a space, and the digest in base64.`,
  })
}

/** @example canonical('upload-offset') // 'Upload-Offset' */
function canonical(name: string): string {
  return name.replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase())
}
