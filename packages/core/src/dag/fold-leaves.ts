import { base16 } from 'multiformats/bases/base16'
import type { DagLayout } from './dag-layout.ts'
import { encodeBlock } from './encode-block.ts'
import type { ImportedDag } from './imported-dag.ts'
import type { Sha256 } from './sha256.ts'
import { DIGEST_BYTES } from './unixfs-node.ts'

/**
 * The whole DAG above a file's leaves, from their digests; no byte of the file is needed.
 *
 * A leaf's digest depends on its chunk and the kind of leaf alone, not on where in which file it stands. So the digests of
 * files that are put one after another, all whole multiples of the chunk but the last, make up those of the whole.
 *
 * @param leafDigests - the sha2-256 of every leaf block in order, 32 bytes each; copied.
 * @throws {TypeError} when there are more or fewer digests than leaves.
 */
export function foldLeaves(layout: DagLayout, leafDigests: Uint8Array, sha256: Sha256): ImportedDag {
  const { profile, leafCount, nodeCount } = layout
  if (leafDigests.length !== leafCount * DIGEST_BYTES) {
    throw new TypeError(`${leafDigests.length} bytes are not the sha2-256 digests of ${leafCount} leaves`)
  }
  const digests = new Uint8Array(nodeCount * DIGEST_BYTES)
  digests.set(leafDigests)
  // A node's number is higher than those of its children, so their digests are there when it is made.
  for (let number = leafCount; number < nodeCount; number += 1) {
    const { firstChild, childCount } = layout.node(number)
    const childDigests = digests.subarray(firstChild * DIGEST_BYTES, (firstChild + childCount) * DIGEST_BYTES)
    digests.set(sha256.of(encodeBlock(layout, number, { childDigests })), number * DIGEST_BYTES)
  }
  return {
    profile: profile.name,
    root: base16.baseEncode(digests.subarray(-DIGEST_BYTES)),
    rootCodec: nodeCount === 1 && profile.leaves === 'raw' ? 'raw' : 'dag-pb',
    digests,
  }
}
