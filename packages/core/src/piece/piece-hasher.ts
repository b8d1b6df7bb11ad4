import { padFr32 } from './fr32.ts'
import { type HashingOptions, type HashPairs, hashPair, portableHashPairs } from './hash-pairs.ts'
import { foldNodes, NodeFolder } from './node-folder.ts'
import { NodeList } from './node-list.ts'
import type { PieceCommitment } from './piece-commitment.ts'
import {
  MAX_PIECE_HEIGHT,
  MIN_PIECE_HEIGHT,
  pieceHeight,
  QUAD_PADDED_BYTES,
  QUAD_RAW_BYTES,
  rawCapacityBytes,
} from './piece-size.ts'
import { zeroCommitment } from './zero-commitments.ts'

/** The height of the subtrees whose roots are kept: 127 MiB of raw bytes, 128 MiB of padded ones. */
export const SUBTREE_HEIGHT = 22
/** What is padded and hashed at once: 2048 leaves, 65,024 raw bytes. */
const BATCH_HEIGHT = 11

/** What one pass over some bytes learned about them as a piece. */
export interface PieceDigest extends PieceCommitment {
  /**
   * The roots of the tree's subtrees, 32 bytes each, in the order of the bytes: one for each started `127 MiB` (or what the
   * hasher's `subtreeHeight` makes of it), the last one over zeros where bytes are missing. Empty when there is only one.
   */
  readonly subtreeRoots: Uint8Array
}

export interface PieceHasherOptions extends HashingOptions {
  /**
   * The height of the subtrees whose roots are reported, 2 to 50. With 11, they are the level that leaf proofs are made
   * from without reading a whole piece.
   *
   * @default 22
   */
  readonly subtreeHeight?: number
}

/**
 * Computes the piece commitment (CommP) of bytes as they come.
 *
 * Every size has one, also 0; provers ask for at least 127 bytes. Memory is about 180 KiB for a big piece, less for a small
 * one, and 32 bytes for each subtree; it does not depend on how the bytes are cut into chunks.
 *
 * @see FRC-0069, and go-fil-commp-hashhash as the reference
 *
 * @example
 * const hasher = new PieceHasher()
 * hasher.update(new TextEncoder().encode('hello world'))
 * pieceCidV2(hasher.finish()) // 'bafkzcibcoqbo4xahwtvbmhunywt2yhzjebhylq4yei73dmrzu7bky4lnev6ukgq'
 */
export class PieceHasher {
  readonly #hashPairs: HashPairs
  readonly #subtreeHeight: number
  readonly #batchHeight: number
  readonly #batchBytes: number
  readonly #folder: NodeFolder
  /** Raw bytes that are no whole batch yet. */
  #staging = new Uint8Array(0)
  #stagedBytes = 0
  #padded = new Uint8Array(0)
  #rawSizeBytes = 0
  /** By height: a left node that waits for its right one. */
  readonly #waiting: (Uint8Array | undefined)[] = []
  readonly #subtreeRoots = new NodeList()
  #isFinished = false

  /** @throws {TypeError} when `subtreeHeight` is out of range. */
  constructor({ hashPairs = portableHashPairs, subtreeHeight = SUBTREE_HEIGHT }: PieceHasherOptions = {}) {
    if (!Number.isInteger(subtreeHeight) || subtreeHeight < MIN_PIECE_HEIGHT || subtreeHeight > MAX_PIECE_HEIGHT) {
      throw new TypeError(`${subtreeHeight} is not the height of a subtree`)
    }
    this.#hashPairs = hashPairs
    this.#subtreeHeight = subtreeHeight
    this.#batchHeight = Math.min(BATCH_HEIGHT, subtreeHeight)
    this.#batchBytes = rawCapacityBytes(this.#batchHeight)
    this.#folder = new NodeFolder(hashPairs)
  }

  /**
   * Takes the next bytes, of any length. They are read before this returns, and the array is the caller's again.
   *
   * @throws {TypeError} after `finish`.
   */
  update(chunk: Uint8Array): void {
    this.#checkNotFinished()
    this.#rawSizeBytes += chunk.length
    for (let at = 0; at < chunk.length; ) {
      const wantedBytes = this.#batchBytes - this.#stagedBytes
      const bytes = chunk.subarray(at, at + wantedBytes)
      at += bytes.length
      // Padding is fastest from whole words of memory; staging brings other bytes there.
      if (bytes.length === this.#batchBytes && bytes.byteOffset % 4 === 0) {
        this.#add(this.#foldRaw(bytes, this.#batchHeight), this.#batchHeight)
        continue
      }
      this.#stage(bytes)
      if (this.#stagedBytes < this.#batchBytes) continue
      this.#add(this.#foldRaw(this.#staging, this.#batchHeight), this.#batchHeight)
      this.#stagedBytes = 0
    }
  }

  /**
   * Ends the bytes.
   *
   * @throws {TypeError} when called twice.
   */
  finish(): PieceDigest {
    this.#checkNotFinished()
    this.#isFinished = true
    const rawSizeBytes = this.#rawSizeBytes
    const height = pieceHeight(rawSizeBytes)
    const topHeight = Math.min(height, this.#subtreeHeight)
    const firstHeight = Math.min(height, this.#batchHeight)
    if (this.#stagedBytes > 0) this.#add(this.#foldRaw(this.#stagedQuads(), firstHeight), firstHeight)
    const open = this.#foldWaiting(firstHeight, topHeight)
    if (height <= this.#subtreeHeight) {
      const root = open ?? (this.#subtreeRoots.count > 0 ? this.#subtreeRoots.toBytes() : zeroCommitment(height))
      return { root, rawSizeBytes, subtreeRoots: new Uint8Array(0) }
    }
    if (open !== undefined) this.#subtreeRoots.push(open)
    const subtreeRoots = this.#subtreeRoots.toBytes()
    const root = foldNodes(subtreeRoots, this.#subtreeHeight, height, { hashPairs: this.#hashPairs })
    return { root, rawSizeBytes, subtreeRoots }
  }

  #checkNotFinished(): void {
    if (this.#isFinished) throw new TypeError('this hasher has already finished')
  }

  #stage(bytes: Uint8Array): void {
    const neededBytes = this.#stagedBytes + bytes.length
    if (neededBytes > this.#staging.length) {
      // Whole quads, so that what is staged at the end can be filled up in place.
      const quadsBytes = QUAD_RAW_BYTES * Math.ceil(neededBytes / QUAD_RAW_BYTES)
      const grown = new Uint8Array(Math.min(this.#batchBytes, Math.max(quadsBytes, 2 * this.#staging.length)))
      grown.set(this.#staging)
      this.#staging = grown
    }
    this.#staging.set(bytes, this.#stagedBytes)
    this.#stagedBytes = neededBytes
  }

  #stagedQuads(): Uint8Array {
    const quadsBytes = QUAD_RAW_BYTES * Math.ceil(this.#stagedBytes / QUAD_RAW_BYTES)
    this.#staging.fill(0, this.#stagedBytes, quadsBytes)
    return this.#staging.subarray(0, quadsBytes)
  }

  #foldRaw(quads: Uint8Array, rootHeight: number): Uint8Array {
    const lengthBytes = (quads.length / QUAD_RAW_BYTES) * QUAD_PADDED_BYTES
    if (this.#padded.length < lengthBytes) this.#padded = new Uint8Array(lengthBytes)
    const leaves = padFr32(quads, this.#padded.subarray(0, lengthBytes))
    return this.#folder.fold(leaves, 0, rootHeight)
  }

  /** Adds the next node at `height` and every parent that it completes. */
  #add(node: Uint8Array, height: number): void {
    let at = height
    let parent = node
    for (let left = this.#waiting[at]; left !== undefined; left = this.#waiting[at]) {
      parent = hashPair(left, parent, this.#hashPairs)
      this.#waiting[at] = undefined
      at += 1
    }
    if (at === this.#subtreeHeight) this.#subtreeRoots.push(parent)
    else this.#waiting[at] = parent
  }

  /** The root, at `topHeight`, over the nodes that still wait and zeros after them; undefined when none waits. */
  #foldWaiting(firstHeight: number, topHeight: number): Uint8Array | undefined {
    let node: Uint8Array | undefined
    for (let at = firstHeight; at < topHeight; at += 1) {
      const left = this.#waiting[at]
      if (left !== undefined) node = hashPair(left, node ?? zeroCommitment(at), this.#hashPairs)
      else if (node !== undefined) node = hashPair(node, zeroCommitment(at), this.#hashPairs)
    }
    return node ?? this.#waiting[topHeight]
  }
}

/** The piece commitment of bytes that are all there; see {@link PieceHasher}. */
export function hashPiece(bytes: Uint8Array, options: PieceHasherOptions = {}): PieceDigest {
  const hasher = new PieceHasher(options)
  hasher.update(bytes)
  return hasher.finish()
}
