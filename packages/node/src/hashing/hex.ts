/**
 * Bytes in lower-case hex.
 *
 * @example
 * hexOf(Uint8Array.of(1, 255)) // '01ff'
 */
export function hexOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('hex')
}

/**
 * The same after `0x`, as JSON-RPC and Curio write bytes.
 *
 * @example
 * hex0xOf(Uint8Array.of(1, 255)) // '0x01ff'
 */
export function hex0xOf(bytes: Uint8Array): `0x${string}` {
  return `0x${hexOf(bytes)}`
}
