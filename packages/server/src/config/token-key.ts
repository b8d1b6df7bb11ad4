import type { KeyObject } from 'node:crypto'
import type { SecretString } from '@lade/node/settings'
import { z } from 'zod'
import { MINIMUM_KEY_BYTES, MINIMUM_RSA_BITS, parseKeyJson, privateKeyOf } from '../key-material/key-material.ts'

/** Beyond this a signature costs more than any use of it is worth. */
const MAXIMUM_RSA_BITS = 8192

/** What `LADE_TOKEN_KEY` stands for under the algorithm that is configured. */
export type TokenKeyMaterial =
  | { readonly alg: 'HS256'; readonly bytes: Uint8Array }
  | { readonly alg: 'RS256'; readonly privateKey: KeyObject }

/**
 * The key bytes that the text of `LADE_TOKEN_KEY` stands for, or `undefined` when it does not hold enough of them.
 *
 * The first form that fits decides, so that every process given the same text has the same key:
 * 1. Hex digits only: read as hex. It must be an even number of digits, at least 64; a shorter one is refused even when
 *    the text itself has 32 characters.
 * 2. Canonical base64 or base64url, padded or not, of at least 32 bytes: decoded.
 * 3. Anything else: its UTF-8 bytes as they are, at least 32 of them.
 *
 * White space around the text is refused: it is a slip of copying, and would be another key. So is anything in PEM and any
 * JSON Web Key of a key pair: a public key is no secret, and who signs with it as if it were lets everybody sign.
 *
 * @example
 * parseTokenKey('00'.repeat(32))?.length // 32
 * parseTokenKey('a passphrase of more than thirty-two bytes')?.length // 42
 * parseTokenKey('short') // undefined
 */
export function parseTokenKey(text: string): Uint8Array | undefined {
  if (text !== text.trim() || isOfKeyPair(text)) return undefined
  if (/^[0-9a-f]+$/i.test(text)) {
    return text.length % 2 === 0 ? longEnough(Buffer.from(text, 'hex')) : undefined
  }
  return longEnough(fromBase64(text)) ?? longEnough(Buffer.from(text, 'utf8'))
}

/**
 * The RSA private key that the text of `LADE_TOKEN_KEY` stands for, or `undefined` when it is none of 2048 to 8192 bits.
 *
 * PEM (PKCS#8 or PKCS#1, not encrypted), with its line feeds also as the two characters `\n`; or a JSON Web Key.
 */
export function parseRsaKey(text: string): KeyObject | undefined {
  const key = isPem(text) ? fromPem(text) : fromJwk(text)
  const bits = key?.asymmetricKeyDetails?.modulusLength ?? 0
  if (key?.asymmetricKeyType !== 'rsa' || bits < MINIMUM_RSA_BITS || bits > MAXIMUM_RSA_BITS) return undefined
  return key
}

/**
 * The key of a `Config` that has a `tokenKey`, which has been validated when the configuration was read.
 *
 * @throws {TypeError} for a secret that `readConfig` would have refused.
 */
export function tokenKeyMaterial(alg: 'HS256' | 'RS256', secret: SecretString): TokenKeyMaterial {
  if (alg === 'HS256') return { alg, bytes: tokenKeyBytes(secret) }
  const privateKey = parseRsaKey(secret.reveal())
  if (privateKey === undefined) throw new TypeError('The token key is no RSA private key of 2048 to 8192 bits.')
  return { alg, privateKey }
}

/**
 * The key bytes of a `Config.tokenKey` for HS256, which has been validated when the configuration was read.
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

function isPem(text: string): boolean {
  return text.includes('-----BEGIN ')
}

function isOfKeyPair(text: string): boolean {
  return isPem(text) || KeyPairJwkSchema.safeParse(parseKeyJson(text)).success
}

const KeyPairJwkSchema = z.object({ kty: z.enum(['RSA', 'EC', 'OKP', 'AKP']) })

/** RFC 7518, section 6.3.2, with the members that make a private key usable. */
const RsaJwkSchema = z.object({
  kty: z.literal('RSA'),
  n: z.string(),
  e: z.string(),
  d: z.string(),
  p: z.string(),
  q: z.string(),
  dp: z.string(),
  dq: z.string(),
  qi: z.string(),
})

function fromPem(text: string): KeyObject | undefined {
  return privateKeyOf(text.replaceAll('\\n', '\n'))
}

function fromJwk(text: string): KeyObject | undefined {
  const parsed = RsaJwkSchema.safeParse(parseKeyJson(text))
  return parsed.success ? privateKeyOf({ key: parsed.data, format: 'jwk' }) : undefined
}
