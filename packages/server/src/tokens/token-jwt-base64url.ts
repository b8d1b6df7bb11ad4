/**
 * Decodes base64url (RFC 4648, section 5) in its one canonical spelling: no padding, no whitespace, no stray trailing bits.
 *
 * @returns the bytes, or `undefined` for every other spelling and for the empty text.
 *
 * @example
 * decodeBase64url('AA')?.length // 1
 * decodeBase64url('AB') // undefined: the last bits are not zero
 */
export function decodeBase64url(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return text !== '' && bytes.toString('base64url') === text ? bytes : undefined
}
