import { isDeepStrictEqual } from 'node:util'
import { LadeError } from '@lade/core/errors'
import { compactVerify, errors } from 'jose'
import { z } from 'zod'
import { expiredToken } from './expired-token.ts'
import type { SigningKey } from './signing-key.ts'
import { headerOf, MAXIMUM_TOKEN_LENGTH, TOKEN_PREFIX } from './token-form.ts'
import { decodeBase64url } from './token-jwt-base64url.ts'
import { parseUniqueJson } from './token-jwt-json.ts'
import { type BearerClaims, claimsSchemaFor } from './wallet-claims.ts'

/** How far the clock of the instance that issued a token may be ahead. */
const CLOCK_LEEWAY_SECONDS = 60

const NotBeforeSchema = z.object({ nbf: z.number().optional() })

/** The claims of a token, and until when it is valid as long as nobody revokes it, in epoch milliseconds. */
export interface VerifiedToken {
  readonly claims: BearerClaims
  readonly validUntilMs: number
}

/**
 * The claims of a token that `key`, or a previous one that is still accepted, signed and that has not expired; `isOfWallet` tells a
 * wallet's from a user's.
 *
 * One spelling of a token is accepted, so a change of any byte refuses it, and one algorithm, which is the key's and not the
 * token's to choose. Does not ask whether the token is revoked.
 *
 * @throws {LadeError} `invalid_token`, the same for every reason but one: a token that has expired says when.
 * @see RFC 8725 (JWT best current practices).
 *
 * @example
 * (await verifyToken(token, key, new Date())).scopes // ['put', 'get', 'list', 'pin']
 */
export async function verifyToken(token: string, key: SigningKey, now: Date): Promise<BearerClaims> {
  return (await verifyTokenUntil(token, key, now)).claims
}

/** As {@link verifyToken}; a token of a previous key is valid for no longer than that is accepted. */
export async function verifyTokenUntil(token: string, key: SigningKey, now: Date): Promise<VerifiedToken> {
  for (const candidate of key.accepted(now)) {
    const jwt = jwtOf(token, candidate)
    const bytes = jwt === undefined ? undefined : await signedPayload(jwt, candidate)
    if (bytes === undefined) continue
    const claims = claimsFrom(bytes, now)
    return { claims, validUntilMs: Math.min(claims.exp * 1000, key.acceptedUntilMs(candidate.id)) }
  }
  throw new LadeError('invalid_token', {})
}

function claimsFrom(bytes: Uint8Array, now: Date): BearerClaims {
  const payload = parseUniqueJson(bytes)
  const claims = claimsSchemaFor(payload).safeParse(payload)
  const bound = NotBeforeSchema.safeParse(payload)
  if (!claims.success || !bound.success) throw new LadeError('invalid_token', {})
  const nowSeconds = now.getTime() / 1000
  if (claims.data.exp <= nowSeconds) throw expiredToken(claims.data.exp)
  if (!hasBegun({ ...claims.data, ...bound.data }, nowSeconds)) throw new LadeError('invalid_token', {})
  return claims.data
}

/** The JWT in `token`, when prefix, length, spelling and header are the ones that are accepted. */
function jwtOf(token: string, key: SigningKey): string | undefined {
  if (token.length > MAXIMUM_TOKEN_LENGTH || !token.startsWith(TOKEN_PREFIX)) return undefined
  const jwt = token.slice(TOKEN_PREFIX.length)
  const [header, payload, signature, ...rest] = jwt.split('.').map(decodeBase64url)
  if (header === undefined || payload === undefined || signature === undefined || rest.length > 0) return undefined
  return isDeepStrictEqual(parseUniqueJson(header), headerOf(key)) ? jwt : undefined
}

async function signedPayload(jwt: string, key: SigningKey): Promise<Uint8Array | undefined> {
  try {
    return (await compactVerify(jwt, key.verifier, { algorithms: [key.alg] })).payload
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}

function hasBegun(
  { iat, nbf }: Pick<BearerClaims, 'iat'> & z.output<typeof NotBeforeSchema>,
  nowSeconds: number,
): boolean {
  const latestStart = nowSeconds + CLOCK_LEEWAY_SECONDS
  return iat <= latestStart && (nbf === undefined || nbf <= latestStart)
}
