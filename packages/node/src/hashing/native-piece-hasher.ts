import { foldSubtreeRoots, type HashPairs, type PieceDigest, pieceHeight, zeroCommitment } from '@lade/core/piece'
import { asBuffer } from './as-buffer.ts'
import { LEAVES_PER_QUAD, NODE_BYTES, PieceWorkspace, QUAD_RAW_BYTES } from './piece-workspace.ts'

/** The height of the subtrees whose roots are kept: 127 MiB of raw bytes. */
const SUBTREE_HEIGHT = 22
/** The height of the sections whose roots are found on the way: 130,048 raw bytes. */
export const SECTION_HEIGHT = 12
/** Smaller chunks are gathered up to this: a quad costs several times more alone than among others. */
const GATHERED_BYTES = 512 * QUAD_RAW_BYTES

/** What one pass over some bytes learned about them as a piece, and of the middle of its tree. */
export interface HashedPiece extends PieceDigest {
  /**
   * The nodes of height 12 that have bytes under them, 32 bytes each: what proofs of possession are made from. Absent unless asked for, and
   * where the native hash is missing.
   */
  readonly sectionRoots?: Uint8Array
}

export interface RunningPieceOptions {
  /** True to learn the roots of sections, too. @default false */
  readonly withSections?: boolean | undefined
}

/** Computes piece commitments, by a native hash. */
export interface NativePieceHashing {
  /** A running hash of bytes that come in chunks. */
  create(options?: RunningPieceOptions): NativePieceHasher
  /** The commitment of bytes that are all there. */
  whole(bytes: Uint8Array): PieceDigest
}

/**
 * Prepares the hashing of pieces with `hashPairs`, which has to be fast for big calls only.
 *
 * All hashers made of it share 330 KiB of memory, so they belong to one thread.
 *
 * @example
 * nativePieceHashing(hashInto).whole(Buffer.from('hello world')).root // 32 bytes, ee5c07b4…257d451a
 */
export function nativePieceHashing(hashPairs: HashPairs): NativePieceHashing {
  const workspace = new PieceWorkspace(hashPairs)
  return {
    create: (options) => new NativePieceHasher(workspace, hashPairs, options),
    whole: (bytes) => new NativePieceHasher(workspace, hashPairs).finish(bytes),
  }
}

/**
 * Computes the piece commitment (CommP) of bytes as they come; what core's `PieceHasher` does, several times faster.
 *
 * Bytes are padded in WebAssembly and hashed by native code where they are, up to 128 KiB of leaves in one call. Each height
 * keeps at most one node, which waits for its right neighbour, so beside the shared workspace a hasher has less than 1 KiB,
 * up to 64 KiB where chunks are smaller than that, and 32 bytes for each subtree of 127 MiB.
 *
 * @see FRC-0069, and go-fil-commp-hashhash as the reference
 */
export class NativePieceHasher {
  readonly #workspace: PieceWorkspace
  readonly #hashPairs: HashPairs
  #rawSizeBytes = 0
  #gathered: Buffer | undefined
  #gatheredBytes = 0
  /** One place for each height; a bit of `#waiting` is set where a node waits. */
  #nodes: Uint8Array | undefined
  #waiting = 0
  /** The only one is the root of a piece that has no more than one. */
  readonly #roots: Uint8Array[] = []
  readonly #sections: Uint8Array[] | undefined
  #isFinished = false

  constructor(workspace: PieceWorkspace, hashPairs: HashPairs, { withSections = false }: RunningPieceOptions = {}) {
    this.#workspace = workspace
    this.#hashPairs = hashPairs
    this.#sections = withSections ? [] : undefined
  }

  /**
   * Takes the next bytes, of any length, which may lie in shared memory. They are read before this returns.
   *
   * @throws {TypeError} after `finish`.
   */
  update(chunk: Uint8Array): void {
    this.#checkNotFinished()
    this.#rawSizeBytes += chunk.length
    if (this.#gatheredBytes + chunk.length < GATHERED_BYTES) this.#gather(asBuffer(chunk))
    else this.#take(asBuffer(chunk), false)
  }

  /**
   * Ends the bytes.
   *
   * @param last - bytes that are still to be taken.
   * @throws {TypeError} when called twice.
   */
  finish(last: Uint8Array = new Uint8Array()): HashedPiece {
    this.#checkNotFinished()
    this.#rawSizeBytes += last.length
    this.#take(asBuffer(last), true)
    this.#isFinished = true
    const rawSizeBytes = this.#rawSizeBytes
    const height = pieceHeight(rawSizeBytes)
    const sections = this.#sections && { sectionRoots: new Uint8Array(Buffer.concat(this.#sections)) }
    if (height <= SUBTREE_HEIGHT) {
      const root = this.#roots[0] ?? zeroCommitment(height)
      return { root, rawSizeBytes, subtreeRoots: new Uint8Array(), ...sections }
    }
    const subtreeRoots = new Uint8Array(this.#roots.length * NODE_BYTES)
    for (const [index, root] of this.#roots.entries()) subtreeRoots.set(root, index * NODE_BYTES)
    const root = foldSubtreeRoots(subtreeRoots, rawSizeBytes, { hashPairs: this.#hashPairs })
    return { root, rawSizeBytes, subtreeRoots, ...sections }
  }

  #checkNotFinished(): void {
    if (this.#isFinished) throw new TypeError('this hasher has already finished')
  }

  #gather(bytes: Buffer): void {
    const neededBytes = this.#gatheredBytes + bytes.length
    if (this.#gathered === undefined || neededBytes > this.#gathered.length) {
      const roomier = Buffer.allocUnsafeSlow(Math.max(neededBytes, 2 * this.#gatheredBytes))
      this.#gathered?.copy(roomier, 0, 0, this.#gatheredBytes)
      this.#gathered = roomier
    }
    bytes.copy(this.#gathered, this.#gatheredBytes)
    this.#gatheredBytes = neededBytes
  }

  /** Hashes what is gathered and then `bytes`, batch by batch; what is no whole quad at the end is gathered again. */
  #take(bytes: Buffer, isLast: boolean): void {
    const { raw } = this.#workspace
    let from = 0
    do {
      this.#gathered?.copy(raw, 0, 0, this.#gatheredBytes)
      const copied = bytes.copy(raw, this.#gatheredBytes, from)
      const filledBytes = this.#gatheredBytes + copied
      from += copied
      this.#gatheredBytes = 0
      const isLastBatch = isLast && from === bytes.length
      const quads = isLastBatch ? Math.ceil(filledBytes / QUAD_RAW_BYTES) : Math.floor(filledBytes / QUAD_RAW_BYTES)
      const quadsBytes = quads * QUAD_RAW_BYTES
      if (quadsBytes > filledBytes) raw.fill(0, filledBytes, quadsBytes)
      if (quadsBytes < filledBytes) this.#gather(raw.subarray(quadsBytes, filledBytes))
      this.#workspace.pad(quadsBytes)
      this.#addLeaves(quads * LEAVES_PER_QUAD, isLastBatch)
    } while (from < bytes.length)
  }

  /**
   * Adds the leaves that lie in the workspace, and every parent that they complete.
   *
   * With the last leaves, zeros complete the rest, up to the root of the piece or of its last subtree.
   */
  #addLeaves(leafCount: number, isLast: boolean): void {
    const workspace = this.#workspace
    const top = isLast ? Math.min(pieceHeight(this.#rawSizeBytes), SUBTREE_HEIGHT) : SUBTREE_HEIGHT
    let count = leafCount
    for (let height = 0; count > 0 || isLast; height += 1) {
      let at = workspace.placeOf(height)
      // One that waits was there before.
      if (height === SECTION_HEIGHT && count > 0) {
        this.#sections?.push(workspace.memory.slice(at, at + count * NODE_BYTES))
      }
      if (this.#isWaiting(height)) {
        at -= NODE_BYTES
        count += 1
        this.#putWaiting(height, at)
      }
      if (height === top) {
        if (count > 0) this.#roots.push(workspace.memory.slice(at, at + NODE_BYTES))
        return
      }
      if (count % 2 === 1) {
        const end = at + count * NODE_BYTES
        if (isLast) workspace.putZero(height, end)
        else this.#wait(height, end - NODE_BYTES)
        count += isLast ? 1 : -1
      }
      if (count > 0) workspace.hashLevel(at, count, height)
      count /= 2
    }
  }

  #isWaiting(height: number): boolean {
    return (this.#waiting & (1 << height)) !== 0
  }

  #wait(height: number, at: number): void {
    this.#nodes ??= new Uint8Array((SUBTREE_HEIGHT + 1) * NODE_BYTES)
    this.#nodes.set(this.#workspace.memory.subarray(at, at + NODE_BYTES), height * NODE_BYTES)
    this.#waiting |= 1 << height
  }

  #putWaiting(height: number, at: number): void {
    const node = this.#nodes?.subarray(height * NODE_BYTES, (height + 1) * NODE_BYTES)
    if (node !== undefined) this.#workspace.memory.set(node, at)
    this.#waiting &= ~(1 << height)
  }
}
