import { varint } from 'multiformats'

/** The longest that a varint of multiformats is: 63 bits. */
const MAX_BYTES = 9

/** An unsigned varint, and where the bytes after it begin. */
export interface Varint {
  /** Rounded above 2^53, which is above every limit that it is compared with. */
  readonly value: number
  readonly end: number
}

/**
 * Reads an unsigned varint as multiformats has it: at most nine bytes, and none of them to spare.
 *
 * @returns `short` when the bytes end inside it, `malformed` when it is longer than it has to be or may be.
 * @see https://github.com/multiformats/unsigned-varint
 */
export function readVarint(bytes: Uint8Array, start: number): Varint | 'short' | 'malformed' {
  let value = 0
  for (let index = 0; index < MAX_BYTES; index += 1) {
    const byte = bytes[start + index]
    if (byte === undefined) return 'short'
    value += (byte & 0x7f) * 2 ** (7 * index)
    if (byte < 0x80) return index > 0 && byte === 0 ? 'malformed' : { value, end: start + index + 1 }
  }
  return 'malformed'
}

/** The varint of a safe integer. */
export function varintBytes(value: number): number[] {
  return [...varint.encodeTo(value, new Uint8Array(varint.encodingLength(value)))]
}
