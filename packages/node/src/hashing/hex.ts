/**
 * Bytes in lower-case hex.
 *
 * @example
 * hexOf(Uint8Array.of(1, 255)) // '01ff'
 */
export function hexOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('hex')
}
