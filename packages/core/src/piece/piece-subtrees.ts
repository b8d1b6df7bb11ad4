import type { HashingOptions } from './hash-pairs.ts'
import { foldNodes } from './node-folder.ts'
import { hashPiece, type PieceDigest, SUBTREE_HEIGHT } from './piece-hasher.ts'
import { NODE_BYTES, pieceHeight, rawCapacityBytes } from './piece-size.ts'

/** The height of the subtrees that roots are of; 22 where nothing is said. */
export interface SubtreeOptions extends HashingOptions {
  readonly subtreeHeight?: number
}

/**
 * The root of a piece from the roots of its subtrees; no byte of the piece is read.
 *
 * @param subtreeRoots - 32 bytes for each started subtree, as {@link PieceDigest} has them; one or more.
 * @param rawSizeBytes - of the whole piece.
 * @returns 32 bytes.
 * @throws {TypeError} when a piece of that size has another number of subtrees, or is lower than a subtree.
 */
export function foldSubtreeRoots(
  subtreeRoots: Uint8Array,
  rawSizeBytes: number,
  { subtreeHeight = SUBTREE_HEIGHT, ...hashing }: SubtreeOptions = {},
): Uint8Array {
  const height = pieceHeight(rawSizeBytes)
  if (height < subtreeHeight) throw new TypeError(`a piece of ${rawSizeBytes} bytes is lower than its subtrees`)
  checkSubtreeCount(subtreeRoots, rawSizeBytes, subtreeHeight)
  return foldNodes(subtreeRoots, subtreeHeight, height, hashing)
}

/**
 * The digest of the bytes of several pieces one behind the other; no byte of them is read.
 *
 * @param parts - in order. The raw size of each, apart from the last, is a multiple of a subtree's raw bytes, which is
 *   `127 * 2 ** (subtreeHeight - 2)`: 127 MiB by default.
 * @returns what a {@link PieceHasher} of this `subtreeHeight` gives for the whole.
 * @throws {TypeError} when the size of a part does not allow it, or its subtree roots do not belong to its size.
 *
 * @example
 * joinPieces([first, second]).rawSizeBytes // first.rawSizeBytes + second.rawSizeBytes
 */
export function joinPieces(
  parts: readonly PieceDigest[],
  { subtreeHeight = SUBTREE_HEIGHT, ...hashing }: SubtreeOptions = {},
): PieceDigest {
  const subtreeRawBytes = rawCapacityBytes(subtreeHeight)
  for (const { rawSizeBytes } of parts.slice(0, -1)) {
    if (rawSizeBytes % subtreeRawBytes !== 0) {
      throw new TypeError(`a part of ${rawSizeBytes} bytes, not a multiple of ${subtreeRawBytes}, is not the last`)
    }
  }
  const filled = parts.filter(({ rawSizeBytes }) => rawSizeBytes > 0)
  const [only = hashPiece(new Uint8Array(0), hashing)] = filled
  if (filled.length <= 1) return only

  const roots = filled.map((part) => subtreeRootsOf(part, subtreeHeight, hashing))
  const subtreeRoots = new Uint8Array(roots.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const nodes of roots) {
    subtreeRoots.set(nodes, at)
    at += nodes.length
  }
  const rawSizeBytes = filled.reduce((sum, part) => sum + part.rawSizeBytes, 0)
  const root = foldSubtreeRoots(subtreeRoots, rawSizeBytes, { ...hashing, subtreeHeight })
  return { root, rawSizeBytes, subtreeRoots }
}

/** The roots of a part's subtrees, also where there is only one, which is then its root in a tree of that height. */
function subtreeRootsOf(part: PieceDigest, subtreeHeight: number, hashing: HashingOptions): Uint8Array {
  const { root, rawSizeBytes, subtreeRoots } = part
  if (rawSizeBytes <= rawCapacityBytes(subtreeHeight)) {
    return foldNodes(root, pieceHeight(rawSizeBytes), subtreeHeight, hashing)
  }
  checkSubtreeCount(subtreeRoots, rawSizeBytes, subtreeHeight)
  return subtreeRoots
}

function checkSubtreeCount(subtreeRoots: Uint8Array, rawSizeBytes: number, subtreeHeight: number): void {
  const count = Math.ceil(rawSizeBytes / rawCapacityBytes(subtreeHeight))
  if (subtreeRoots.length !== count * NODE_BYTES) {
    throw new TypeError(`a piece of ${rawSizeBytes} bytes has ${count} subtree roots, not ${subtreeRoots.length} bytes`)
  }
}
