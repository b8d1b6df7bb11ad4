import { murmur3x64 } from './murmur3.ts'
import { toUtf8 } from './utf8.ts'

/** The multicodec of the one hash that names in sharded directories are placed by. */
export const MURMUR3_X64_64 = 0x22

/** Where a name is in a sharded directory. */
export interface NameHash {
  /** The bucket in the shard of this level, 0 for the root; undefined when the hash has no bits left for it. */
  bucketAt(level: number): string | undefined
}

/**
 * Each level of a sharded directory is named by the next bits of the hash of a name, from its top, as many as name its buckets.
 *
 * @param fanout - how many buckets a shard has; a power of two.
 *
 * @example
 * nameHash('470.txt', 256).bucketAt(1) // '6E'
 */
export function nameHash(name: string, fanout: number): NameHash {
  const bits = Math.log2(fanout)
  const digits = (fanout - 1).toString(16).length
  const hash = murmur3x64(toUtf8(name))
  return {
    bucketAt(level) {
      const usedBits = (level + 1) * bits
      if (usedBits > 64) return undefined
      const bucket = (hash >> BigInt(64 - usedBits)) % BigInt(fanout)
      return bucket.toString(16).toUpperCase().padStart(digits, '0')
    },
  }
}
