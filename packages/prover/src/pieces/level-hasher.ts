import {
  foldSubtreeRoots,
  type PieceCommitment,
  type PieceLevel,
  PROOF_LEVEL_HEIGHT,
  rawCapacityBytes,
} from '@lade/core/piece'
import { pieceHashing } from '@lade/node/hashing/piece-hashing'

/** The raw bytes under one kept node: 65,024. */
export const SECTION_BYTES = rawCapacityBytes(PROOF_LEVEL_HEIGHT)

/** What one pass over a piece's bytes found out. */
export interface HashedPiece extends PieceCommitment {
  /** The level that makes a leaf proof cost one section; undefined for a piece of a single section. */
  readonly level: PieceLevel | undefined
}

/**
 * Computes a piece's commitment and the level of its tree that is kept for proofs, in one pass.
 *
 * Each section is hashed as a piece of its own by the native hash; the roots are folded at the end. Memory is a section and
 * 32 bytes for each of them: 512 KiB at 1 GiB.
 */
export class LevelHasher {
  readonly #section = Buffer.alloc(SECTION_BYTES)
  #filledBytes = 0
  #rawSizeBytes = 0
  readonly #roots: Uint8Array[] = []

  /** Takes the next bytes, of any length. They are read before this returns. */
  update(chunk: Uint8Array): void {
    this.#rawSizeBytes += chunk.length
    for (let at = 0; at < chunk.length; ) {
      // A full section waits for a byte behind it: the only one of a piece is not folded.
      if (this.#filledBytes === SECTION_BYTES) this.#closeSection()
      const part = chunk.subarray(at, at + SECTION_BYTES - this.#filledBytes)
      this.#section.set(part, this.#filledBytes)
      this.#filledBytes += part.length
      at += part.length
    }
  }

  finish(): HashedPiece {
    const rawSizeBytes = this.#rawSizeBytes
    if (this.#roots.length === 0) {
      const { root } = pieceHashing.whole(this.#section.subarray(0, this.#filledBytes))
      return { root, rawSizeBytes, level: undefined }
    }
    this.#section.fill(0, this.#filledBytes)
    this.#closeSection()
    const nodes = new Uint8Array(Buffer.concat(this.#roots))
    const { hashPairs } = pieceHashing
    const root = foldSubtreeRoots(nodes, rawSizeBytes, { subtreeHeight: PROOF_LEVEL_HEIGHT, hashPairs })
    return { root, rawSizeBytes, level: { height: PROOF_LEVEL_HEIGHT, nodes } }
  }

  #closeSection(): void {
    this.#roots.push(pieceHashing.whole(this.#section).root)
    this.#filledBytes = 0
  }
}
