import { IDENTITY } from '../links.ts'

/** What kubo takes as the most that a CID may carry, also inline. */
export const MAX_DIGEST_BYTES = 128

/** Bytes of the digest of each hash that names blocks in the network, by its multicodec. */
const DIGEST_BYTES: ReadonlyMap<number, number> = new Map([
  [0x12, 32], // sha2-256
  [0x13, 64], // sha2-512
  [0x14, 64], // sha3-512
  [0x15, 48], // sha3-384
  [0x16, 32], // sha3-256
  [0x17, 28], // sha3-224
  [0x19, 64], // shake-256
  [0x1a, 28], // keccak-224
  [0x1b, 32], // keccak-256
  [0x1c, 48], // keccak-384
  [0x1d, 64], // keccak-512
  [0x1e, 32], // blake3
  [0x56, 32], // dbl-sha2-256
])
/** blake2b and blake2s have a code for each length, which follow each other; lengths below are too short to be safe. */
const BLAKE2B = { base: 0xb200, maxBytes: 64 }
const BLAKE2S = { base: 0xb240, maxBytes: 32 }
const MIN_BLAKE2_BYTES = 20

/**
 * The length of the digests of a hash; undefined for hashes that name no blocks here, sha1 among them.
 *
 * @see https://github.com/ipfs/boxo/blob/main/verifcid/allowlist.go - these are the hashes that kubo takes by default, but for sha1.
 *
 * @example
 * digestBytesOf(0x13) // 64, of sha2-512
 * digestBytesOf(0xb220) // 32, of blake2b-256
 */
function digestBytesOf(hashCode: number): number | undefined {
  for (const { base, maxBytes } of [BLAKE2B, BLAKE2S]) {
    const bytes = hashCode - base
    if (bytes >= MIN_BLAKE2_BYTES && bytes <= maxBytes) return bytes
  }
  return DIGEST_BYTES.get(hashCode)
}

/** True for a digest that has the length of its hash, or, inline, for bytes that are few enough. */
export function hasDigestLength(hashCode: number, { length }: Uint8Array): boolean {
  return hashCode === IDENTITY ? length <= MAX_DIGEST_BYTES : length === digestBytesOf(hashCode)
}
