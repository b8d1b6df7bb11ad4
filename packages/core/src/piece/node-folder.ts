import { type HashingOptions, type HashPairs, hashPair, portableHashPairs, truncateNodes } from './hash-pairs.ts'
import { NODE_BYTES } from './piece-size.ts'
import { zeroCommitment } from './zero-commitments.ts'

/**
 * Hashes one level of a tree into the next.
 *
 * @param nodes - the level's first nodes, at least one, 32 bytes each; all after them are zero commitments.
 * @param height - the height of `nodes`.
 * @param parents - where their parents go, 32 bytes for every started pair; apart from `nodes` in memory.
 */
export function hashLevel(nodes: Uint8Array, height: number, parents: Uint8Array, hashPairs: HashPairs): void {
  const loneBytes = nodes.length % (2 * NODE_BYTES)
  const pairedBytes = nodes.length - loneBytes
  if (pairedBytes > 0) {
    const paired = parents.subarray(0, pairedBytes / 2)
    hashPairs(nodes.subarray(0, pairedBytes), paired)
    truncateNodes(paired)
  }
  if (loneBytes > 0) {
    parents.set(hashPair(nodes.subarray(pairedBytes), zeroCommitment(height), hashPairs), pairedBytes / 2)
  }
}

/** The bytes of the level above a level of so many bytes. */
export function parentBytes(levelBytes: number): number {
  return NODE_BYTES * Math.ceil(levelBytes / (2 * NODE_BYTES))
}

/** Folds levels to their roots, again and again in the same memory, which is as large as the largest level so far. */
export class NodeFolder {
  readonly #hashPairs: HashPairs
  /** Levels are written to the two in turn. */
  #odd = new Uint8Array(0)
  #even = new Uint8Array(0)

  constructor(hashPairs: HashPairs) {
    this.#hashPairs = hashPairs
  }

  /**
   * The root, at `rootHeight`, of the tree whose first nodes at `height` are `nodes` and that is zeros after them.
   *
   * `nodes` is not changed. With none at all, the root is a zero commitment.
   *
   * @returns 32 bytes of the caller's own.
   */
  fold(nodes: Uint8Array, height: number, rootHeight: number): Uint8Array {
    if (nodes.length === 0) return zeroCommitment(rootHeight)
    if (this.#odd.length < parentBytes(nodes.length)) {
      this.#odd = new Uint8Array(parentBytes(nodes.length))
      this.#even = new Uint8Array(parentBytes(this.#odd.length))
    }
    let level = nodes
    for (let at = height; at < rootHeight; at += 1) {
      const isOdd = (at - height) % 2 === 0
      const parents = (isOdd ? this.#odd : this.#even).subarray(0, parentBytes(level.length))
      hashLevel(level, at, parents, this.#hashPairs)
      level = parents
    }
    return level.slice(0, NODE_BYTES)
  }
}

/** {@link NodeFolder.fold}, once. */
export function foldNodes(
  nodes: Uint8Array,
  height: number,
  rootHeight: number,
  { hashPairs = portableHashPairs }: HashingOptions = {},
): Uint8Array {
  return new NodeFolder(hashPairs).fold(nodes, height, rootHeight)
}
