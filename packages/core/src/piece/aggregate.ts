import { unpadFr32 } from './fr32.ts'
import { type HashingOptions, hashPair, portableHashPairs } from './hash-pairs.ts'
import type { InclusionProof } from './inclusion-proof.ts'
import { writeIndex, writeIndexEntry } from './index-entry.ts'
import type { PieceCommitment } from './piece-commitment.ts'
import { heightOfPaddedSize, NODE_BYTES, rawCapacityBytes } from './piece-size.ts'
import {
  aggregateHeightOf,
  INDEX_ENTRY_BYTES,
  indexOffsetBytes,
  placePieces,
  rawOffsetBytes,
  type Segment,
} from './segment.ts'
import { type PlacedNode, SparseTree } from './sparse-tree.ts'

export interface AggregateOptions extends HashingOptions {
  /**
   * The height of the aggregate's tree, 4 to 48; one of 1 GiB has 25, one of 32 GiB has 30.
   *
   * @default the smallest that takes the pieces
   */
  readonly height?: number
}

/**
 * Pieces put together to one piece, with an index at its end (FRC-0058), by their commitments alone.
 *
 * Its raw bytes are, in this order: each piece at the raw offset of its segment, zeros wherever nothing is said, and the raw
 * index at `rawIndexOffsetBytes`. Who writes them so gets bytes with exactly this commitment.
 *
 * @see FRC-0058
 *
 * @example
 * const aggregate = new Aggregate([first, second], { height: 25 })
 * pieceCidV2(aggregate.commitment)
 * verifyInclusion({ aggregate: aggregate.commitment, piece: first, proof: aggregate.proveInclusion(0) }) // true
 */
export class Aggregate {
  /** Of the aggregate as a piece; its raw size is all that its tree takes. */
  readonly commitment: PieceCommitment
  readonly height: number
  /** Where the pieces are, in the order in which they were given and in which the index names them. */
  readonly segments: readonly Segment[]
  readonly #tree: SparseTree

  /**
   * @param pieces - in the order in which they are placed; falling sizes leave no gaps.
   * @throws {TypeError} when they do not fit, or a root is no node.
   */
  constructor(pieces: readonly PieceCommitment[], options: AggregateOptions = {}) {
    const { height = aggregateHeightOf(pieces), hashPairs = portableHashPairs } = options
    this.height = height
    this.segments = placePieces(pieces, height)
    const entries = this.segments.map((segment, entryNumber): PlacedNode => {
      const entry = writeIndexEntry(segment)
      const node = hashPair(entry.subarray(0, NODE_BYTES), entry.subarray(NODE_BYTES), hashPairs)
      return { node, height: 1, position: entryPosition(height, entryNumber) }
    })
    this.#tree = new SparseTree(height, [...this.segments.map(placedNodeOf), ...entries], hashPairs)
    this.commitment = { root: this.#tree.root, rawSizeBytes: rawCapacityBytes(height) }
  }

  /** Where the index begins in the aggregate's raw bytes. */
  get rawIndexOffsetBytes(): number {
    return rawOffsetBytes(indexOffsetBytes(this.height))
  }

  /** The index as raw bytes, which run to the end of the aggregate: from 1 MiB on, 0.05 % of it. */
  writeRawIndex(): Uint8Array {
    return unpadFr32(writeIndex(this.segments, this.height))
  }

  /**
   * Proves that a piece is in the aggregate and that the index names it.
   *
   * @param segmentNumber - the piece's place in `segments`.
   * @throws {TypeError} when there is no such segment.
   */
  proveInclusion(segmentNumber: number): InclusionProof {
    const segment = this.segments[segmentNumber]
    if (segment === undefined) throw new TypeError(`the aggregate has no segment ${segmentNumber}`)
    const { height, position } = placedNodeOf(segment)
    const inIndex = entryPosition(this.height, segmentNumber)
    return {
      segment: { position, siblings: this.#tree.siblingsOf(height, position) },
      entry: { position: inIndex, siblings: this.#tree.siblingsOf(1, inIndex) },
    }
  }
}

function placedNodeOf({ root, paddedOffsetBytes, paddedSizeBytes }: Segment): PlacedNode {
  return {
    node: root,
    height: heightOfPaddedSize(paddedSizeBytes),
    position: paddedOffsetBytes / paddedSizeBytes,
  }
}

/** The place of an entry among the nodes of height 1, each of which is the hash of one. */
function entryPosition(aggregateHeight: number, entryNumber: number): number {
  return indexOffsetBytes(aggregateHeight) / INDEX_ENTRY_BYTES + entryNumber
}
