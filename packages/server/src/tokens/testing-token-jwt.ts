import { createHmac } from 'node:crypto'
import { SigningKey } from './signing-key.ts'
import type { TokenClaims } from './token-claims.ts'

/** Values for the tests of tokens: a key whose bytes are known, claims, and tokens of any header and payload. */
export const KEY_BYTES = Buffer.alloc(32, 7)

export const NOW = new Date('2030-01-01T00:00:00Z')
export const NOW_SECONDS = NOW.getTime() / 1000

export const testKey = (bytes: Uint8Array = KEY_BYTES) => SigningKey.fromBytes(bytes, NOW_SECONDS)

export function claimsOf(changes: Partial<TokenClaims> = {}): TokenClaims {
  return {
    sub: '973dfe463ec85785',
    email: 'test@example.com',
    scopes: ['put', 'get', 'list', 'pin'],
    quotaMb: 1024,
    iat: NOW_SECONDS,
    exp: NOW_SECONDS + 3600,
    jti: '3f0c9c1e-5f0b-4c52-8f3c-0d8a9a1c7e55',
    ...changes,
  }
}

/** A token signed with the right key, whatever its header and payload say. Objects become JSON, texts stay. */
export function forge(header: unknown, payload: unknown, { bytes = KEY_BYTES, hash = 'sha256' } = {}): string {
  const part = (value: unknown) =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
  const input = `${part(header)}.${part(payload)}`
  return `pk_live_${input}.${createHmac(hash, bytes).update(input).digest('base64url')}`
}
