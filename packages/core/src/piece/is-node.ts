import { NODE_BYTES } from './piece-size.ts'

/** True for 32 bytes whose top two bits are zero, as those of every node of a piece tree are. */
export function isNode(bytes: Uint8Array): boolean {
  return bytes.length === NODE_BYTES && (bytes[NODE_BYTES - 1] ?? 0) <= 0x3f
}
