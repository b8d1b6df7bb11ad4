import type { PieceCommitment } from './piece-commitment.ts'
import { heightOfPaddedSize, NODE_BYTES, paddedSizeBytes, QUAD_PADDED_BYTES, QUAD_RAW_BYTES } from './piece-size.ts'

/** A piece within an aggregate. Offset and size are those of the padded bytes. */
export interface Segment {
  /** The piece's own root, which is a node of the aggregate's tree. */
  readonly root: Uint8Array
  /** From the start of the aggregate; a multiple of the size. */
  readonly paddedOffsetBytes: number
  /** A power of two, 128 or more. */
  readonly paddedSizeBytes: number
}

/** Bytes of an entry of the index: two nodes. */
export const INDEX_ENTRY_BYTES = 2 * NODE_BYTES
/** 512 bytes: the smallest index, which is 256, and as much beside it. */
export const MIN_AGGREGATE_HEIGHT = 4
/** The greatest height whose raw bytes can be counted exactly. */
export const MAX_AGGREGATE_HEIGHT = 48

const MIN_INDEX_ENTRIES = 4
/** Padded bytes of an aggregate for each entry of its index. */
const PADDED_BYTES_PER_ENTRY = 2048 * INDEX_ENTRY_BYTES

/**
 * How many segments an aggregate of this height can have.
 *
 * @throws {TypeError} when the height is not that of an aggregate, 4 to 48.
 * @see FRC-0058, "Data Segment Index"
 *
 * @example
 * indexEntryCount(25) // 8192, in an aggregate of 1 GiB
 */
export function indexEntryCount(aggregateHeight: number): number {
  return Math.max(MIN_INDEX_ENTRIES, aggregateSizeBytes(aggregateHeight) / PADDED_BYTES_PER_ENTRY)
}

/**
 * Where the index begins, in padded bytes; it ends where the aggregate does.
 *
 * @throws {TypeError} when the height is not that of an aggregate, 4 to 48.
 */
export function indexOffsetBytes(aggregateHeight: number): number {
  return aggregateSizeBytes(aggregateHeight) - INDEX_ENTRY_BYTES * indexEntryCount(aggregateHeight)
}

/**
 * Places pieces in an aggregate: in the order given, each at the first multiple of its own size that is free.
 *
 * Gaps stay between a piece and a bigger one after it; in the order of falling sizes there are none.
 *
 * @throws {TypeError} when the height is not that of an aggregate, 4 to 48, or the pieces do not fit beside the index;
 *   see {@link aggregateHeightOf}.
 * @see FRC-0058, "Data Segments"
 */
export function placePieces(pieces: readonly PieceCommitment[], aggregateHeight: number): Segment[] {
  const segments = placeInOrder(pieces)
  if (!fits(segments, aggregateHeight)) {
    throw new TypeError(`${pieces.length} pieces of these sizes do not fit an aggregate of height ${aggregateHeight}`)
  }
  return segments
}

/**
 * The height of the smallest aggregate that takes these pieces in this order.
 *
 * @throws {TypeError} when there is none up to height 48.
 *
 * @example
 * aggregateHeightOf([{ root, rawSizeBytes: 1016 }]) // 6: 1024 padded bytes, and 256 of index
 */
export function aggregateHeightOf(pieces: readonly PieceCommitment[]): number {
  const segments = placeInOrder(pieces)
  for (let height = MIN_AGGREGATE_HEIGHT; height <= MAX_AGGREGATE_HEIGHT; height += 1) {
    if (fits(segments, height)) return height
  }
  throw new TypeError(`${pieces.length} pieces of these sizes fit no aggregate`)
}

/**
 * Where a segment begins in the aggregate's raw bytes, so that a range of the aggregate gives the piece back.
 *
 * @example
 * rawOffsetBytes(1024) // 1016
 */
export function rawOffsetBytes(paddedOffsetBytes: number): number {
  return (paddedOffsetBytes / QUAD_PADDED_BYTES) * QUAD_RAW_BYTES
}

/** True for a power of two of at least 128, at a multiple of itself, which ends at or before `endBytes`. */
export function isPlacedBefore(endBytes: number, { paddedOffsetBytes, paddedSizeBytes }: Segment): boolean {
  return (
    paddedSizeBytes >= QUAD_PADDED_BYTES &&
    NODE_BYTES * 2 ** heightOfPaddedSize(paddedSizeBytes) === paddedSizeBytes &&
    paddedOffsetBytes % paddedSizeBytes === 0 &&
    paddedOffsetBytes + paddedSizeBytes <= endBytes
  )
}

function placeInOrder(pieces: readonly PieceCommitment[]): Segment[] {
  let endBytes = 0
  return pieces.map(({ root, rawSizeBytes }) => {
    const sizeBytes = paddedSizeBytes(rawSizeBytes)
    const paddedOffsetBytes = sizeBytes * Math.ceil(endBytes / sizeBytes)
    endBytes = paddedOffsetBytes + sizeBytes
    return { root, paddedOffsetBytes, paddedSizeBytes: sizeBytes }
  })
}

function fits(segments: readonly Segment[], aggregateHeight: number): boolean {
  const last = segments.at(-1)
  const endBytes = last === undefined ? 0 : last.paddedOffsetBytes + last.paddedSizeBytes
  return segments.length <= indexEntryCount(aggregateHeight) && endBytes <= indexOffsetBytes(aggregateHeight)
}

function aggregateSizeBytes(height: number): number {
  if (!Number.isInteger(height) || height < MIN_AGGREGATE_HEIGHT || height > MAX_AGGREGATE_HEIGHT) {
    throw new TypeError(`${height} is not the height of an aggregate`)
  }
  return NODE_BYTES * 2 ** height
}
