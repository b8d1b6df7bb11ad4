import { utf8Bytes } from '../utf8.ts'
import { murmur3x64 } from './murmur3.ts'

/** The multicodec of the hash that sharded directories place names by. */
export const MURMUR3_X64_64 = 0x22

const HASH_BITS = 64

/** The hash of a name; each level of a sharded directory takes its next bits, from the top. */
export function hashOfName(name: string): bigint {
  return murmur3x64(utf8Bytes(name))
}

/** How many levels a sharded directory has at most: after that, the bits of the hash are used up. */
export function levelsOf(fanout: number): number {
  return Math.floor(HASH_BITS / Math.log2(fanout))
}

/**
 * The bucket of a hash in a shard.
 *
 * @param level - 0 for the root; below `levelsOf(fanout)`.
 *
 * @example
 * bucketAt(hashOfName('470.txt'), 256, 1) // 0x6e
 */
export function bucketAt(hash: bigint, fanout: number, level: number): number {
  const bitsLeft = HASH_BITS - Math.log2(fanout) * (level + 1)
  return Number((hash >> BigInt(bitsLeft)) % BigInt(fanout))
}

/** A bucket as links name it: upper-case hex digits, as many as the highest bucket has. */
export function bucketText(bucket: number, fanout: number): string {
  return bucket
    .toString(16)
    .toUpperCase()
    .padStart((fanout - 1).toString(16).length, '0')
}
