import { type HashingOptions, hashPair, portableHashPairs } from './hash-pairs.ts'
import { writeIndexEntry } from './index-entry.ts'
import { isNode } from './is-node.ts'
import { climbPath, equalNodes, isPathOfDepth, type MerklePath } from './merkle-path.ts'
import type { PieceCommitment } from './piece-commitment.ts'
import { NODE_BYTES, paddedSizeBytes, pieceHeight } from './piece-size.ts'
import {
  INDEX_ENTRY_BYTES,
  indexOffsetBytes,
  MAX_AGGREGATE_HEIGHT,
  MIN_AGGREGATE_HEIGHT,
  rawOffsetBytes,
} from './segment.ts'

/** That a piece is in an aggregate, and that the aggregate's index says where. */
export interface InclusionProof {
  /** From the piece's root; its position, in units of the piece's padded size, is where the piece is. */
  readonly segment: MerklePath
  /** From the hash of the piece's index entry, a node of height 1. */
  readonly entry: MerklePath
}

export interface VerifyInclusionOptions extends HashingOptions {
  readonly aggregate: PieceCommitment
  readonly piece: PieceCommitment
  readonly proof: InclusionProof
}

/**
 * True when the proof shows the piece in the aggregate, and an entry of the aggregate's index that names it there.
 *
 * The proof may come from whoever aggregated: wrong lengths and positions are false, and never an error. Raw sizes count by
 * the height of their tree alone, since the zeros at the end of a piece are all that an aggregate knows of it. That the
 * aggregate is stored anywhere is another question.
 *
 * @see FRC-0058, "Proof of Data Segment Inclusion"
 */
export function verifyInclusion(options: VerifyInclusionOptions): boolean {
  const { aggregate, piece, proof, hashPairs = portableHashPairs } = options
  const height = pieceHeight(aggregate.rawSizeBytes)
  if (height < MIN_AGGREGATE_HEIGHT || height > MAX_AGGREGATE_HEIGHT) return false
  if (!isNode(piece.root)) return false
  if (!isPathOfDepth(proof.segment, height - pieceHeight(piece.rawSizeBytes))) return false
  if (!isPathOfDepth(proof.entry, height - 1)) return false
  if (!equalNodes(climbPath(piece.root, proof.segment, hashPairs), aggregate.root)) return false

  if (proof.entry.position * INDEX_ENTRY_BYTES < indexOffsetBytes(height)) return false
  const sizeBytes = paddedSizeBytes(piece.rawSizeBytes)
  const paddedOffsetBytes = proof.segment.position * sizeBytes
  const entry = writeIndexEntry({ root: piece.root, paddedOffsetBytes, paddedSizeBytes: sizeBytes })
  const entryNode = hashPair(entry.subarray(0, NODE_BYTES), entry.subarray(NODE_BYTES), hashPairs)
  return equalNodes(climbPath(entryNode, proof.entry, hashPairs), aggregate.root)
}

/**
 * Where a proven piece begins in the aggregate's raw bytes; the piece is that many bytes from there on as it is long.
 *
 * @example
 * const first = provenRawOffsetBytes(piece, proof)
 * // Range: bytes=<first>-<first + piece.rawSizeBytes - 1>
 */
export function provenRawOffsetBytes(piece: PieceCommitment, { segment }: InclusionProof): number {
  return rawOffsetBytes(segment.position * paddedSizeBytes(piece.rawSizeBytes))
}
