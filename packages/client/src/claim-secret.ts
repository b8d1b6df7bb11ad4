import { CLAIM_SECRET_BYTES } from '@lade/core/wire/headers'
import { decodeBase64, encodeBase64 } from './base64.ts'

const NEW_SECRET_BYTES = 32

/**
 * A secret for `claim` of `put`, of 256 random bits: who has it can make the file an account's with `files.claim`.
 *
 * @example
 * newClaimSecret() // 'n3Wf0r6XyqUe0…', 43 characters
 */
export function newClaimSecret(): string {
  return base64urlOf(crypto.getRandomValues(new Uint8Array(NEW_SECRET_BYTES)))
}

/** The bytes of a secret. @throws {TypeError} for what is none. */
export function claimSecretBytes(secret: string): Uint8Array<ArrayBuffer> {
  const { min, max } = CLAIM_SECRET_BYTES
  if (/^[A-Za-z0-9_-]+$/.test(secret) && secret.length % 4 !== 1) {
    const bytes = decodeBase64(secret.replaceAll('-', '+').replaceAll('_', '/'))
    if (bytes.length >= min && bytes.length <= max && base64urlOf(bytes) === secret) return bytes
  }
  throw new TypeError(`The secret of a claim is ${min} to ${max} bytes as base64url, as newClaimSecret makes them`)
}

function base64urlOf(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
