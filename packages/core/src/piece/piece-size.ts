/** Raw bytes of one quad, the unit of padding: 127 bytes become four leaves. */
export const QUAD_RAW_BYTES = 127
/** Padded bytes of one quad. */
export const QUAD_PADDED_BYTES = 128
/** Bytes of a leaf, and of every other node of a piece tree. */
export const NODE_BYTES = 32
/** The height of a single quad, so of the smallest piece. */
export const MIN_PIECE_HEIGHT = 2
/** The greatest height that the contract which verifies possession reads (FilOzone/pdp, `PDPVerifier.sol`). */
export const MAX_PIECE_HEIGHT = 50

/**
 * The height of the piece tree over so many bytes: its leaves are `2 ** height`.
 *
 * @param rawSizeBytes - 0 to `Number.MAX_SAFE_INTEGER`.
 * @returns 2 to 49.
 * @throws {TypeError} when the size is not a safe integer of at least 0.
 * @see FRC-0069
 *
 * @example
 * pieceHeight(0) // 2
 * pieceHeight(127) // 2
 * pieceHeight(128) // 3
 */
export function pieceHeight(rawSizeBytes: number): number {
  checkRawSize(rawSizeBytes)
  let height = MIN_PIECE_HEIGHT
  while (rawCapacityBytes(height) < rawSizeBytes) height += 1
  return height
}

/** The most raw bytes that a tree of this height takes: `127 * 2 ** (height - 2)`, exact for every height. */
export function rawCapacityBytes(height: number): number {
  return QUAD_RAW_BYTES * 2 ** (height - MIN_PIECE_HEIGHT)
}

/** The height of the tree whose leaves have so many bytes, which are a power of two. */
export function heightOfPaddedSize(paddedSizeBytes: number): number {
  return Math.round(Math.log2(paddedSizeBytes / NODE_BYTES))
}

/**
 * The size of the whole tree's leaves, `32 * 2 ** height`: what chains and provers call the piece size.
 *
 * @throws {TypeError} when the size is not a safe integer of at least 0.
 *
 * @example
 * paddedSizeBytes(1017) // 2048
 */
export function paddedSizeBytes(rawSizeBytes: number): number {
  return NODE_BYTES * 2 ** pieceHeight(rawSizeBytes)
}

/**
 * The zero bytes that fill the raw bytes up to what their tree takes; a piece CID of version 2 begins with it.
 *
 * Smaller than the raw size, except where that is below 127.
 *
 * @throws {TypeError} when the size is not a safe integer of at least 0.
 *
 * @example
 * paddingBytes(1017) // 1015
 */
export function paddingBytes(rawSizeBytes: number): number {
  return rawCapacityBytes(pieceHeight(rawSizeBytes)) - rawSizeBytes
}

/**
 * The leaves that hold at least one raw bit, which are those that possession is asked of.
 *
 * Equals `2 ** height - floor(floor(128 * padding / 127) / 32)`, as the contract writes it; 0 for the empty piece.
 *
 * @throws {TypeError} when the size is not a safe integer of at least 0.
 * @see FilOzone/pdp, `Cids.sol`
 *
 * @example
 * leafCount(1017) // 33
 */
export function leafCount(rawSizeBytes: number): number {
  checkRawSize(rawSizeBytes)
  // By quads first: 4 * size / 127 in one division is not exact for the largest sizes.
  const rest = rawSizeBytes % QUAD_RAW_BYTES
  return 4 * ((rawSizeBytes - rest) / QUAD_RAW_BYTES) + Math.ceil((4 * rest) / QUAD_RAW_BYTES)
}

function checkRawSize(rawSizeBytes: number): void {
  if (!Number.isSafeInteger(rawSizeBytes) || rawSizeBytes < 0) {
    throw new TypeError(`${rawSizeBytes} is not the size of a piece in bytes`)
  }
}
