import { type HashPairs, hashPair } from './hash-pairs.ts'
import { hashLevel, parentBytes } from './node-folder.ts'
import { NODE_BYTES } from './piece-size.ts'
import { zeroCommitment } from './zero-commitments.ts'

/** The way from a node to the root of its tree. */
export interface MerklePath {
  /** The node's place among those of its height, from 0 on the left. */
  readonly position: number
  /** The sibling at each height, from the node's own upwards, 32 bytes each. */
  readonly siblings: readonly Uint8Array[]
}

/** A root and the siblings on the way to it. */
export interface CollectedPath {
  readonly root: Uint8Array
  readonly siblings: readonly Uint8Array[]
}

/**
 * Collects the siblings on the way up from one node of a level.
 *
 * @param nodes - the level's first nodes, 32 bytes each, also none; all after them are zero commitments.
 * @param height - the height of `nodes`.
 * @param position - the node's place in the level, also behind `nodes`.
 */
export function collectPath(
  nodes: Uint8Array,
  height: number,
  rootHeight: number,
  position: number,
  hashPairs: HashPairs,
): CollectedPath {
  const siblings: Uint8Array[] = []
  let level = nodes
  let at = position
  for (let levelHeight = height; levelHeight < rootHeight; levelHeight += 1) {
    siblings.push(nodeOf(level, levelHeight, siblingPosition(at)))
    const parents = new Uint8Array(parentBytes(level.length))
    hashLevel(level, levelHeight, parents, hashPairs)
    level = parents
    at = Math.floor(at / 2)
  }
  return { root: nodeOf(level, rootHeight, 0), siblings }
}

/** The root that a node leads to along a path. Nothing is judged: neither the length of the path nor its position. */
export function climbPath(node: Uint8Array, { position, siblings }: MerklePath, hashPairs: HashPairs): Uint8Array {
  let root = node
  let at = position
  for (const sibling of siblings) {
    root = at % 2 === 0 ? hashPair(root, sibling, hashPairs) : hashPair(sibling, root, hashPairs)
    at = Math.floor(at / 2)
  }
  return root
}

/** True when the path leads from a node to a root `depth` heights above it: as many siblings, each of 32 bytes, and a
 * position that such a tree has. Paths come from others, so anything may be in them. */
export function isPathOfDepth({ position, siblings }: MerklePath, depth: number): boolean {
  return (
    siblings.length === depth &&
    siblings.every((sibling) => sibling.length === NODE_BYTES) &&
    Number.isSafeInteger(position) &&
    position >= 0 &&
    position < 2 ** depth
  )
}

/** The other child of the same parent; without bit operators, since positions go beyond 32 bits. */
export function siblingPosition(position: number): number {
  return position % 2 === 0 ? position + 1 : position - 1
}

/** True when two nodes are the same 32 bytes. */
export function equalNodes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}

/** A node of a level by its place, in an array of its own. */
export function nodeOf(nodes: Uint8Array, height: number, position: number): Uint8Array {
  const at = position * NODE_BYTES
  return at < nodes.length ? nodes.slice(at, at + NODE_BYTES) : zeroCommitment(height)
}
