import { hashInto } from '@chainsafe/as-sha256'
import { NODE_BYTES } from './piece-size.ts'

/**
 * Hashes neighbouring nodes to their parents: plain sha2-256 of each 64 bytes of `nodes`, 32 bytes each in `parents`.
 *
 * The two arrays do not overlap, and `nodes` has at least one pair. Implementations hash as they are asked and keep all
 * 256 bits; that a piece tree has 254 of them is its own matter. A faster one can be handed to everything here that hashes.
 */
export type HashPairs = (nodes: Uint8Array, parents: Uint8Array) => void

/** What hashes, where something else than {@link portableHashPairs} should. */
export interface HashingOptions {
  readonly hashPairs?: HashPairs
}

/** The {@link HashPairs} that runs everywhere: WebAssembly, four pairs at a time where there is SIMD. */
export const portableHashPairs: HashPairs = hashInto

/** Sets the top two bits of every node to zero, in place, so that it is an element of the field again. */
export function truncateNodes(nodes: Uint8Array): void {
  for (let at = NODE_BYTES - 1; at < nodes.length; at += NODE_BYTES) nodes[at] = (nodes[at] ?? 0) & 0x3f
}

/** The parent of two nodes of a piece tree, in a new array. */
export function hashPair(left: Uint8Array, right: Uint8Array, hashPairs: HashPairs): Uint8Array {
  const pair = new Uint8Array(2 * NODE_BYTES)
  pair.set(left)
  pair.set(right, NODE_BYTES)
  const parent = new Uint8Array(NODE_BYTES)
  hashPairs(pair, parent)
  truncateNodes(parent)
  return parent
}
