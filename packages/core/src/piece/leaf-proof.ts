import { padFr32 } from './fr32.ts'
import { type HashingOptions, portableHashPairs } from './hash-pairs.ts'
import { climbPath, collectPath, equalNodes, isPathOfDepth, nodeOf } from './merkle-path.ts'
import { PieceHasher } from './piece-hasher.ts'
import {
  MAX_PIECE_HEIGHT,
  MIN_PIECE_HEIGHT,
  NODE_BYTES,
  pieceHeight,
  QUAD_RAW_BYTES,
  rawCapacityBytes,
} from './piece-size.ts'

/** The height of the level that is worth keeping for each piece: a leaf proof then reads 65,024 bytes of it. */
export const PROOF_LEVEL_HEIGHT = 11
/** What is read at once of a piece that is read as a whole. */
const READ_BYTES = 16 * rawCapacityBytes(PROOF_LEVEL_HEIGHT)

/** Reads exactly `lengthBytes` raw bytes of a piece from `offsetBytes` on; only bytes that it has are asked for. */
export type ReadRaw = (offsetBytes: number, lengthBytes: number) => Uint8Array | Promise<Uint8Array>

/** One level of a piece's tree, kept so that proofs need not read the whole piece again. */
export interface PieceLevel {
  /** 2 to 50. */
  readonly height: number
  /** The nodes that have raw bytes under them, 32 bytes each; empty for a piece with only one. */
  readonly nodes: Uint8Array
}

/** That a leaf belongs to a piece, as the contract takes it: `Proof{bytes32 leaf; bytes32[] proof}`. */
export interface LeafProof {
  /** 32 bytes of padded data. */
  readonly leaf: Uint8Array
  /** The sibling at each height from the leaf upwards; as many as the piece's tree is high. */
  readonly proof: readonly Uint8Array[]
}

export interface HashPieceLevelOptions extends HashingOptions {
  readonly rawSizeBytes: number
  readonly readRaw: ReadRaw
  /**
   * A greater height keeps less and reads more for each proof.
   *
   * @default 11
   */
  readonly height?: number
}

/**
 * Computes a level of a piece's tree by reading all of the piece, in order and about 1 MiB at a time.
 *
 * The same nodes are the `subtreeRoots` of a {@link PieceHasher} whose `subtreeHeight` is this height.
 *
 * @returns 32 bytes for each started `127 * 2 ** (height - 2)` raw bytes: 16 MiB for a piece of 32 GiB.
 * @throws {TypeError} when `readRaw` gives another length than asked for, or the height is out of range.
 */
export async function hashPieceLevel(options: HashPieceLevelOptions): Promise<PieceLevel> {
  const { rawSizeBytes, readRaw, height = PROOF_LEVEL_HEIGHT, hashPairs = portableHashPairs } = options
  const hasher = new PieceHasher({ hashPairs, subtreeHeight: height })
  for (let offset = 0; offset < rawSizeBytes; offset += READ_BYTES) {
    hasher.update(await readExactly(readRaw, offset, Math.min(READ_BYTES, rawSizeBytes - offset)))
  }
  return { height, nodes: hasher.finish().subtreeRoots }
}

export interface MakeLeafProofOptions extends HashingOptions {
  readonly rawSizeBytes: number
  /** Less than `2 ** pieceHeight(rawSizeBytes)`; from `leafCount(rawSizeBytes)` on, leaves are padding. */
  readonly leafIndex: number
  readonly readRaw: ReadRaw
  /** A level kept from before. Without one, all of a piece above 65,024 bytes is read. */
  readonly level?: PieceLevel
}

/**
 * Proves that a leaf belongs to a piece.
 *
 * With a level of height 11, one call to `readRaw` for at most 65,024 bytes is all that is read. The bytes read are not
 * checked against the level; instead `root` tells what they lead to.
 *
 * @returns the proof, and the root that it leads to: when it is not the piece's, bytes or level have rotted.
 * @throws {TypeError} when the leaf index is out of range, the level is of another size of piece, or `readRaw` gives
 *   another length than asked for.
 */
export async function makeLeafProof(options: MakeLeafProofOptions): Promise<LeafProof & { readonly root: Uint8Array }> {
  const { rawSizeBytes, leafIndex, readRaw, level, hashPairs = portableHashPairs } = options
  const height = pieceHeight(rawSizeBytes)
  if (!isIndexBelow(leafIndex, 2 ** height)) throw new TypeError(`a piece of height ${height} has no leaf ${leafIndex}`)
  const sectionHeight = Math.min(level?.height ?? PROOF_LEVEL_HEIGHT, height)
  const sectionLeaves = 2 ** sectionHeight
  const section = Math.floor(leafIndex / sectionLeaves)
  const indexInSection = leafIndex % sectionLeaves

  const leaves = await readLeaves(readRaw, rawSizeBytes, section * rawCapacityBytes(sectionHeight), sectionHeight)
  const leaf = nodeOf(leaves, 0, indexInSection)
  const inside = collectPath(leaves, 0, sectionHeight, indexInSection, hashPairs)
  if (sectionHeight === height) return { leaf, proof: inside.siblings, root: inside.root }

  const { nodes } = level ?? (await hashPieceLevel({ rawSizeBytes, readRaw, height: sectionHeight, hashPairs }))
  const count = Math.ceil(rawSizeBytes / rawCapacityBytes(sectionHeight))
  if (nodes.length !== count * NODE_BYTES) {
    throw new TypeError(`a piece of ${rawSizeBytes} bytes has ${count} nodes at height ${sectionHeight}`)
  }
  const ownNodes = nodes.slice()
  // The section's root is taken from the bytes just read, so that the root returned speaks of them.
  if (section < count) ownNodes.set(inside.root, section * NODE_BYTES)
  const above = collectPath(ownNodes, sectionHeight, height, section, hashPairs)
  return { leaf, proof: [...inside.siblings, ...above.siblings], root: above.root }
}

export interface VerifyLeafProofOptions extends LeafProof, HashingOptions {
  readonly root: Uint8Array
  /** The height of the piece's tree: `pieceHeight` of its raw size. */
  readonly height: number
  readonly leafIndex: number
}

/**
 * True when the proof leads from the leaf at `leafIndex` to the root of a piece of exactly this height.
 *
 * Everything but `root` and `height` may come from whoever wants to prove: wrong lengths and indices are false, and never
 * an error. That the leaf is not padding is for the caller to see to, by asking for one below `leafCount`.
 *
 * @see FilOzone/pdp, `Proofs.sol`
 */
export function verifyLeafProof(options: VerifyLeafProofOptions): boolean {
  const { root, height, leafIndex, leaf, proof, hashPairs = portableHashPairs } = options
  if (!Number.isInteger(height) || height < MIN_PIECE_HEIGHT || height > MAX_PIECE_HEIGHT) return false
  const path = { position: leafIndex, siblings: proof }
  if (leaf.length !== NODE_BYTES || !isPathOfDepth(path, height)) return false
  return equalNodes(climbPath(leaf, path, hashPairs), root)
}

/** The leaves under one node of `height`, as far as there are raw bytes for them. */
async function readLeaves(
  readRaw: ReadRaw,
  rawSizeBytes: number,
  offsetBytes: number,
  height: number,
): Promise<Uint8Array> {
  const lengthBytes = Math.max(0, Math.min(rawCapacityBytes(height), rawSizeBytes - offsetBytes))
  const quads = new Uint8Array(QUAD_RAW_BYTES * Math.ceil(lengthBytes / QUAD_RAW_BYTES))
  if (lengthBytes > 0) quads.set(await readExactly(readRaw, offsetBytes, lengthBytes))
  return padFr32(quads)
}

async function readExactly(readRaw: ReadRaw, offsetBytes: number, lengthBytes: number): Promise<Uint8Array> {
  const bytes = await readRaw(offsetBytes, lengthBytes)
  if (bytes.length !== lengthBytes) throw new TypeError(`readRaw gave ${bytes.length} bytes instead of ${lengthBytes}`)
  return bytes
}

function isIndexBelow(value: number, end: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value < end
}
