import type { SigningKey } from './signing-key.ts'

/** What every token starts with. */
export const TOKEN_PREFIX = 'pk_live_'

/** Longer tokens are refused unread; a token of the longest claims and the largest key is under 3 KiB. */
export const MAXIMUM_TOKEN_LENGTH = 4096

/** These members and no other: `crit`, `jku`, `jwk`, `b64` and the like could change what a token means. */
export function headerOf({ alg, id }: SigningKey): { alg: string; typ: string; kid?: string } {
  return alg === 'HS256' ? { alg, typ: 'JWT' } : { alg, typ: 'JWT', kid: id }
}
