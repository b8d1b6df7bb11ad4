import type { IncomingMessage } from 'node:http'
import { LadeError } from '@lade/core/errors'
import { digestField } from '@lade/node/hashing/digest-field'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { parseStrictDictionary } from '../wallets/structured-dictionary.ts'

/**
 * The sha2-256 that the head of a request says its body has, in hex (RFC 9530): that of `Content-Digest` or of
 * `Repr-Digest`, which is the same here, since bodies are taken as they are. Other algorithms are let be.
 *
 * @returns undefined when neither names one.
 * @throws {LadeError} `bad_request` for a field that is malformed, and for two that contradict each other.
 */
export function announcedSha256(request: IncomingMessage): string | undefined {
  const ofContent = contentSha256(request)
  const ofRepresentation = sha256In(request, 'repr-digest')
  if (ofContent !== undefined && ofRepresentation !== undefined && ofContent !== ofRepresentation) {
    throw new LadeError('bad_request', { reason: 'Content-Digest and Repr-Digest differ.' })
  }
  return ofContent ?? ofRepresentation
}

/** As `announcedSha256`, of `Content-Digest` alone. */
export function contentSha256(request: IncomingMessage): string | undefined {
  return sha256In(request, 'content-digest')
}

/**
 * Compares a body that is all here with what its head says of it.
 *
 * @throws {LadeError} `digest_mismatch`, and as `announcedSha256`.
 */
export function checkBodyDigest(request: IncomingMessage, body: Uint8Array): void {
  const expected = announcedSha256(request)
  if (expected === undefined) return
  const actual = sha256Hex(body)
  if (actual === expected) return
  throw new LadeError('digest_mismatch', { expected: digestField(expected), actual: digestField(actual) })
}

function sha256In(request: IncomingMessage, name: 'content-digest' | 'repr-digest'): string | undefined {
  const field = request.headers[name]
  if (field === undefined) return undefined
  const digests = parseStrictDictionary(String(field))
  if (digests === undefined) throw malformed(name)
  const member = digests.get('sha-256')
  if (member === undefined) return undefined
  const [value] = member
  if (!(value instanceof ArrayBuffer) || value.byteLength !== 32) throw malformed(name)
  return Buffer.from(value).toString('hex')
}

function malformed(name: string): LadeError<'bad_request'> {
  return new LadeError('bad_request', {
    reason: `The header ${name} must have the form of RFC 9530, such as sha-256=:…:, with each algorithm once.`,
  })
}
