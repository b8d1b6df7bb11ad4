import type { DagLayout } from './dag-layout.ts'
import { encodeInteriorNode, wrapLeaf } from './unixfs-node.ts'

/** What a block is made from: a leaf from its chunk of the file, an interior node from its children's digests. */
export type BlockSource =
  | { readonly chunk: Uint8Array }
  /** The sha2-256 of every child in order, 32 bytes each: a slice of `ImportedDag.digests`. */
  | { readonly childDigests: Uint8Array }

/**
 * The bytes of one block of a file's DAG, made again.
 *
 * They are those that an importer with the layout's profile makes, byte for byte, given that the source is right; the
 * source is not checked beyond its length. The block of a raw leaf is the chunk handed in, not a copy of it.
 *
 * @param nodeNumber - see `DagNode.number`.
 * @throws {TypeError} when there is no such node, or the source is of the other kind or the wrong length.
 *
 * @example
 * const { firstChild, childCount } = layout.node(nodeNumber)
 * const childDigests = dag.digests.subarray(32 * firstChild, 32 * (firstChild + childCount))
 * encodeBlock(layout, nodeNumber, { childDigests }) // a Uint8Array of layout.node(nodeNumber).blockBytes bytes
 */
export function encodeBlock(layout: DagLayout, nodeNumber: number, source: BlockSource): Uint8Array {
  const { kind, lengthBytes } = layout.node(nodeNumber)
  if (kind === 'interior') {
    if (!('childDigests' in source)) throw new TypeError(`Node ${nodeNumber} is made from its children's digests`)
    return encodeInteriorNode(layout.childRuns(nodeNumber), source.childDigests)
  }
  if (!('chunk' in source)) throw new TypeError(`Node ${nodeNumber} is a leaf, made from its chunk`)
  const { chunk } = source
  if (chunk.length !== lengthBytes) {
    throw new TypeError(`The chunk of node ${nodeNumber} has ${lengthBytes} bytes, not ${chunk.length}`)
  }
  return kind === 'raw-leaf' ? chunk : wrapped(chunk)
}

function wrapped(chunk: Uint8Array): Uint8Array {
  const { prefix, suffix } = wrapLeaf(chunk.length)
  const block = new Uint8Array(prefix.length + chunk.length + suffix.length)
  block.set(prefix)
  block.set(chunk, prefix.length)
  block.set(suffix, prefix.length + chunk.length)
  return block
}
