import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import { LadeError } from '@lade/core/errors'
import { z } from 'zod'
import type { SigningKey } from './signing-key.ts'
import { decodeBase64url } from './token-jwt-base64url.ts'

const PURPOSE = 'lade share link v1'
const MAXIMUM_LENGTH = 1024
const OWNER_TAG_BYTES = 16

/**
 * File, expiry in epoch seconds, the owner's tag, and the id of the token that made the link. Links of wallets have no token, and links that an
 * older version signed do not name it.
 */
const PayloadSchema = z.strictObject({
  f: z.string(),
  e: z.int().nonnegative(),
  o: z.string(),
  j: z.string().optional(),
})

export interface SignShareLinkOptions {
  readonly key: SigningKey
  /** The cid of the path that the link is for, as {@link verifyShareLink} will be given it. */
  readonly cid: string
  /** Whose file it is, such as `user:973dfe463ec85785`. Cannot be read from the link. */
  readonly principal: string
  readonly fileId: string
  /** Kept to the second, rounded down. */
  readonly expiresAt: Date
  /** The token that makes the link, which ends with it; undefined for the signature of a wallet. */
  readonly jti?: string | undefined
}

export interface VerifyShareLinkOptions {
  readonly key: SigningKey
  readonly cid: string
  /** The value of the `share` parameter. */
  readonly share: string
  readonly now: Date
}

/** What a valid link grants: this one file, until then. */
export interface ShareGrant {
  readonly fileId: string
  readonly expiresAt: Date
  /** The token that made the link, whose revocation ends it; undefined when there was none, or when an older version signed. */
  readonly jti: string | undefined
  /** True when the link was signed for a file of `principal`: ask it of the file found, as ids may be used again. */
  isFrom(principal: string): boolean
}

/**
 * The query parameter of a link to one private file: `share=<payload>.<HMAC-SHA-256>`, both base64url.
 *
 * Its key is derived from the signing key for this purpose alone: no share link is a token, no token is a share link. A rotation of the
 * signing key ends every link, at once or when the old key is no longer accepted. The file id, the expiry and the id of the token can be
 * read from it, the owner cannot.
 *
 * @throws {TypeError} for an expiry that is no time.
 *
 * @example
 * signShareLink({ key, cid, principal: 'user:973dfe463ec85785', fileId: '7', expiresAt }) // 'share=eyJmIjoi….x2p…'
 */
export function signShareLink({ key, cid, principal, fileId, expiresAt, jti }: SignShareLinkOptions): string {
  const linkKey = key.derive(PURPOSE)
  const e = Math.floor(expiresAt.getTime() / 1000)
  if (!Number.isSafeInteger(e) || e < 0) throw new TypeError('expiresAt is not a time after 1970.')
  const payload = Buffer.from(JSON.stringify({ f: fileId, e, o: ownerTag(linkKey, principal), j: jti })).toString(
    'base64url',
  )
  return `share=${payload}.${macOf(linkKey, cid, payload).toString('base64url')}`
}

/**
 * What `share` grants for `cid`. Compares in constant time.
 *
 * @throws {LadeError} `invalid_share_link`, the same for a wrong signature, another cid, a wrong form and a link that has expired.
 *   Whether its token was revoked is for the caller to ask (`Authorizer.linksHold`).
 */
export function verifyShareLink({ key, cid, share, now }: VerifyShareLinkOptions): ShareGrant {
  const [payload = '', mac = '', ...rest] = share.length > MAXIMUM_LENGTH ? [] : share.split('.')
  const payloadBytes = decodeBase64url(payload)
  const macBytes = decodeBase64url(mac)
  if (payloadBytes === undefined || macBytes === undefined || rest.length > 0)
    throw new LadeError('invalid_share_link', {})
  const linkKey = key
    .accepted(now)
    .map((one) => one.derive(PURPOSE))
    .find((one) => isSame(macOf(one, cid, payload), macBytes))
  if (linkKey === undefined) throw new LadeError('invalid_share_link', {})
  const { f: fileId, e, o, j: jti } = PayloadSchema.parse(JSON.parse(Buffer.from(payloadBytes).toString('utf8')))
  if (e * 1000 <= now.getTime()) throw new LadeError('invalid_share_link', {})
  return {
    fileId,
    expiresAt: new Date(e * 1000),
    jti,
    isFrom: (principal) => isSame(Buffer.from(ownerTag(linkKey, principal)), Buffer.from(o)),
  }
}

/** A colon ends the kind and a line feed the cid, and neither is in a cid or in base64url: no two inputs are spelled alike. */
function macOf(linkKey: KeyObject, cid: string, payload: string): Buffer {
  return createHmac('sha256', linkKey).update(`link:${cid}\n${payload}`).digest()
}

/** Keyed, so that a link does not let its holder test guesses of whose it is. */
function ownerTag(linkKey: KeyObject, principal: string): string {
  const tag = createHmac('sha256', linkKey).update(`owner:${principal}`).digest()
  return tag.subarray(0, OWNER_TAG_BYTES).toString('base64url')
}

function isSame(expected: Uint8Array, actual: Uint8Array): boolean {
  return expected.length === actual.length && timingSafeEqual(expected, actual)
}
