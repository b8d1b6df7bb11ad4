import { createPrivateKey, type KeyObject } from 'node:crypto'

/** RFC 7518, section 3.2: a key of the same size as the hash output or larger, which is 32 bytes for HS256. */
export const MINIMUM_KEY_BYTES = 32

/** RFC 7518, section 3.3: a key of 2048 bits or larger, which is also the size of keys that are made here. */
export const MINIMUM_RSA_BITS = 2048

/**
 * The private key in PEM or in the members of a JSON Web Key; `undefined` for what OpenSSL or Node does not take as a key.
 *
 * No message of theirs, which may quote the key, gets any further.
 */
export function privateKeyOf(material: Parameters<typeof createPrivateKey>[0]): KeyObject | undefined {
  try {
    return createPrivateKey(material)
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined
    throw error
  }
}

/** `undefined` for text that is no JSON: a schema then answers, and no message quotes the text. */
export function parseKeyJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
