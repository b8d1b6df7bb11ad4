import { type HashPairs, truncateNodes } from './hash-pairs.ts'
import { siblingPosition } from './merkle-path.ts'
import { NODE_BYTES } from './piece-size.ts'
import { zeroCommitment } from './zero-commitments.ts'

/** A node and where it stands. */
export interface PlacedNode {
  readonly node: Uint8Array
  readonly height: number
  /** Its place among the nodes of its height. */
  readonly position: number
}

/** A tree of which some subtrees are known by their roots and the rest is zeros. */
export class SparseTree {
  readonly height: number
  /** By height, then by position; nodes that are missing are zero commitments. */
  readonly #levels: readonly Map<number, Uint8Array>[]

  /** @param nodes - none of them under another. */
  constructor(height: number, nodes: Iterable<PlacedNode>, hashPairs: HashPairs) {
    this.height = height
    const levels = Array.from({ length: height + 1 }, () => new Map<number, Uint8Array>())
    for (const { node, height, position } of nodes) levels[height]?.set(position, node)
    for (const [at, level] of levels.entries()) {
      const above = levels[at + 1]
      if (above !== undefined) addParents(level, at, above, hashPairs)
    }
    this.#levels = levels
  }

  get root(): Uint8Array {
    return this.#nodeAt(this.height, 0)
  }

  /** The siblings from a node up to the root; see `MerklePath`. */
  siblingsOf(height: number, position: number): Uint8Array[] {
    const siblings: Uint8Array[] = []
    let at = position
    for (let levelHeight = height; levelHeight < this.height; levelHeight += 1) {
      siblings.push(this.#nodeAt(levelHeight, siblingPosition(at)))
      at = Math.floor(at / 2)
    }
    return siblings
  }

  #nodeAt(height: number, position: number): Uint8Array {
    return this.#levels[height]?.get(position)?.slice() ?? zeroCommitment(height)
  }
}

/** Hashes all pairs of a level with at least one known node in one call. */
function addParents(
  level: ReadonlyMap<number, Uint8Array>,
  height: number,
  above: Map<number, Uint8Array>,
  hashPairs: HashPairs,
): void {
  if (level.size === 0) return
  const zero = zeroCommitment(height)
  const positions = [...new Set(Array.from(level.keys(), (position) => Math.floor(position / 2)))]
  const pairs = new Uint8Array(2 * NODE_BYTES * positions.length)
  for (const [index, position] of positions.entries()) {
    pairs.set(level.get(2 * position) ?? zero, 2 * NODE_BYTES * index)
    pairs.set(level.get(2 * position + 1) ?? zero, 2 * NODE_BYTES * index + NODE_BYTES)
  }
  const parents = new Uint8Array(NODE_BYTES * positions.length)
  hashPairs(pairs, parents)
  truncateNodes(parents)
  for (const [index, position] of positions.entries()) {
    above.set(position, parents.subarray(NODE_BYTES * index, NODE_BYTES * (index + 1)))
  }
}
