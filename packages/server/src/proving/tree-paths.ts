import { zeroCommitment } from '@lade/core/piece'
import { SECTION_HEIGHT } from '@lade/node/hashing/native-piece-hasher'
import { pieceHashing } from '@lade/node/hashing/piece-hashing'
import { LEAVES_PER_QUAD, NODE_BYTES, PieceWorkspace, QUAD_RAW_BYTES } from '@lade/node/hashing/piece-workspace'

/** Trees are folded here, one at a time and without a pause: memory of their own has the garbage collector at work for longer than the hash. */
const workspace = new PieceWorkspace(pieceHashing.hashPairs)

/** A root, and the siblings on the way to it, from the lowest height upwards. */
export interface TreePath {
  readonly root: Uint8Array
  readonly siblings: readonly Uint8Array[]
}

/**
 * The way from a leaf of a section to the section's root.
 *
 * @param bytes - the raw bytes of the section, as many as there are; zeros follow.
 * @param rootHeight - of the section, at most 12.
 */
export function leafPath(bytes: Uint8Array, rootHeight: number, leafIndex: number): TreePath & { leaf: Uint8Array } {
  const quads = Math.ceil(bytes.length / QUAD_RAW_BYTES)
  workspace.raw.set(bytes)
  workspace.raw.fill(0, bytes.length, quads * QUAD_RAW_BYTES)
  workspace.pad(quads * QUAD_RAW_BYTES)
  const count = quads * LEAVES_PER_QUAD
  const leaf = nodeAt(leafIndex, count, 0)
  return { leaf, ...fold({ count, height: 0, rootHeight, position: leafIndex }) }
}

/**
 * The way from a section to the root of a tree of at most 127 MiB.
 *
 * @param nodes - the roots of the tree's sections, at least one; zeros follow.
 * @param rootHeight - 12 to 22.
 */
export function sectionPath(nodes: Uint8Array, rootHeight: number, position: number): TreePath {
  workspace.memory.set(nodes, workspace.placeOf(SECTION_HEIGHT))
  return fold({ count: nodes.length / NODE_BYTES, height: SECTION_HEIGHT, rootHeight, position })
}

/** Folds the nodes that are in the workspace, as `collectPath` of core does. */
function fold(level: { count: number; height: number; rootHeight: number; position: number }): TreePath {
  const siblings: Uint8Array[] = []
  let { count, height, position } = level
  for (; height < level.rootHeight; height += 1) {
    siblings.push(nodeAt(position % 2 === 0 ? position + 1 : position - 1, count, height))
    const at = workspace.placeOf(height)
    if (count % 2 === 1) {
      workspace.putZero(height, at + count * NODE_BYTES)
      count += 1
    }
    workspace.hashLevel(at, count, height)
    count /= 2
    position = Math.floor(position / 2)
  }
  return { root: nodeAt(0, count, height), siblings }
}

function nodeAt(position: number, count: number, height: number): Uint8Array {
  if (position >= count) return zeroCommitment(height)
  const at = workspace.placeOf(height) + position * NODE_BYTES
  return workspace.memory.slice(at, at + NODE_BYTES)
}
