import { base16 } from 'multiformats/bases/base16'
import { base32 } from 'multiformats/bases/base32'

const PREFIX = 'bafy'
/** 52 base32 digits hold 260 bits: the 256 of the digest and four zeros. */
const LEGACY_ID = /^bafy[a-z2-7]{52}$/i

/**
 * True for a string of the legacy shape: `bafy` and 52 base32 digits, 56 in all, in any case.
 *
 * It is not a CID. A dag-pb CIDv1, which also begins with `bafy`, has 59 characters, so the two never meet.
 */
export function hasLegacyShape(text: string): boolean {
  return LEGACY_ID.test(text)
}

/**
 * The sha2-256 digest inside a legacy id.
 *
 * @param text - a string for which {@link hasLegacyShape} holds.
 * @returns 64 lower-case hex digits; undefined when the last digit carries bits beyond the digest, because no bytes have
 *   such an id.
 */
export function legacySha256(text: string): string | undefined {
  const digits = text.slice(PREFIX.length).toLowerCase()
  // Of the last digit's five bits only the first belongs to the digest: `a` is 00000, `q` is 10000.
  if (!/[aq]$/.test(digits)) return undefined
  return base16.baseEncode(base32.baseDecode(digits))
}

/**
 * The legacy id of a sha2-256 digest.
 *
 * @param sha256Hex - 64 lower-case hex digits.
 *
 * @example
 * legacyIdOf('b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9')
 * // 'bafyxfgspomtju7arjjokll5u7nl7lcij37dpjjyb3uqrd32zyxpzxuq'
 */
export function legacyIdOf(sha256Hex: string): string {
  return PREFIX + base32.baseEncode(base16.baseDecode(sha256Hex))
}
