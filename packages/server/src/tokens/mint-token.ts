import { CompactSign } from 'jose'
import { z } from 'zod'
import type { SigningKey } from './signing-key.ts'
import { headerOf, TOKEN_PREFIX } from './token-form.ts'
import { type BearerClaims, claimsSchemaFor } from './wallet-claims.ts'

/**
 * Signs `claims` into a token: `pk_live_` and a JWT (RFC 7519). With HS256 its header is `{"alg":"HS256","typ":"JWT"}`, with
 * RS256 it names the key as well: `{"alg":"RS256","typ":"JWT","kid":"…"}`.
 *
 * @param issuer - the public URL of the service, which RS256 tokens name as `iss`, and as `aud` where the claims name none: others verify
 *   them. HS256 tokens name neither.
 * @throws {TypeError} for claims that `verifyToken` would refuse.
 *
 * @example
 * (await mintToken(claims, key)).startsWith('pk_live_eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.') // true
 */
export async function mintToken(claims: BearerClaims, key: SigningKey, issuer?: string): Promise<string> {
  const checked = claimsSchemaFor(claims).safeParse(claims)
  if (!checked.success) throw new TypeError(`These are not the claims of a token: ${z.prettifyError(checked.error)}`)
  const named = key.alg === 'RS256' && issuer !== undefined ? { iss: issuer, aud: issuer } : {}
  const payload = new TextEncoder().encode(JSON.stringify({ ...named, ...checked.data }))
  return TOKEN_PREFIX + (await new CompactSign(payload).setProtectedHeader(headerOf(key)).sign(key.signer))
}
