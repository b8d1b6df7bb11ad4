import type { SecretString } from './secret-string.ts'

/** RFC 7518, section 3.2: a key of the same size as the hash output or larger, which is 32 bytes for HS256. */
const MINIMUM_KEY_BYTES = 32

/**
 * The key bytes that the text of `LADE_TOKEN_KEY` stands for, or `undefined` when it does not hold enough of them.
 *
 * The first form that fits decides, so that every process given the same text has the same key:
 * 1. Hex digits only: read as hex. It must be an even number of digits, at least 64; a shorter one is refused even when
 *    the text itself has 32 characters.
 * 2. Canonical base64 or base64url, padded or not, of at least 32 bytes: decoded.
 * 3. Anything else: its UTF-8 bytes as they are, at least 32 of them.
 *
 * White space around the text is refused: it is a slip of copying, and would be another key.
 *
 * @example
 * parseTokenKey('00'.repeat(32))?.length // 32
 * parseTokenKey('a passphrase of more than thirty-two bytes')?.length // 42
 * parseTokenKey('short') // undefined
 */
export function parseTokenKey(text: string): Uint8Array | undefined {
  if (text !== text.trim()) return undefined
  if (/^[0-9a-f]+$/i.test(text)) {
    return text.length % 2 === 0 ? longEnough(Buffer.from(text, 'hex')) : undefined
  }
  return longEnough(fromBase64(text)) ?? longEnough(Buffer.from(text, 'utf8'))
}

/**
 * The key bytes of a `Config.tokenKey`, which has been validated when the configuration was read.
 *
 * @throws {TypeError} for a secret that `readConfig` would have refused.
 */
export function tokenKeyBytes(secret: SecretString): Uint8Array {
  const bytes = parseTokenKey(secret.reveal())
  if (bytes === undefined) throw new TypeError('The token key holds fewer than 32 bytes.')
  return bytes
}

function longEnough(bytes: Uint8Array | undefined): Uint8Array | undefined {
  return bytes !== undefined && bytes.length >= MINIMUM_KEY_BYTES ? bytes : undefined
}

function fromBase64(text: string): Uint8Array | undefined {
  const unpadded = text.replace(/={1,2}$/, '')
  const isPadded = unpadded !== text
  if (isPadded && text.length % 4 !== 0) return undefined
  for (const encoding of ['base64', 'base64url'] as const) {
    const bytes = Buffer.from(unpadded, encoding)
    if (bytes.toString(encoding).replace(/=+$/, '') === unpadded) return bytes
  }
  return undefined
}
