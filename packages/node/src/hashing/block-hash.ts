import { blake2b256, blake3 } from './blake.ts'
import { sha256 } from './sha256.ts'

/**
 * The function behind a multihash code, for blocks, whose bytes are all there.
 *
 * @returns undefined for hashes that are not checked here.
 * @see https://github.com/multiformats/multicodec/blob/master/table.csv
 *
 * @example
 * blockHashOf(0x12)?.(Buffer.from('abc')) // 32 bytes, ba7816bf…f20015ad
 */
export function blockHashOf(multihashCode: number): ((bytes: Uint8Array) => Uint8Array) | undefined {
  switch (multihashCode) {
    case 0x12:
      return sha256.of
    case 0x1e:
      return blake3.of
    case 0xb220:
      return blake2b256.of
    default:
      return undefined
  }
}
