import type { BlockList } from './block-list.ts'
import { compareNames, type DagRoot, type DirectoryLink } from './directory-link.ts'
import { EMPTY_DIRECTORY_BYTES, encodeDirectory, linkBytes } from './encode-directory.ts'
import { ShardTrie } from './shard-trie.ts'

/**
 * A directory whose block would have more bytes than this is sharded; one of exactly so many is not.
 *
 * @see https://specs.ipfs.tech/ipips/ipip-0499/#hamt-threshold-behavior - `block-bytes` of the profile `unixfs-v1-2025`.
 */
export const SHARDING_THRESHOLD_BYTES = 262_144

/** Makes the blocks of a directory from all its entries, in any order: one block, or a trie of shards. */
export function encodeEntries(links: readonly DirectoryLink[], made: BlockList): DagRoot {
  const blockBytes = links.reduce((sum, link) => sum + linkBytes(link), EMPTY_DIRECTORY_BYTES)
  if (blockBytes > SHARDING_THRESHOLD_BYTES) return ShardTrie.of(links).encode(made)
  const sorted = links.toSorted(compareNames)
  return made.add(encodeDirectory(sorted), sorted)
}
