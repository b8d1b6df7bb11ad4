import { rawCapacityBytes } from '@lade/core/piece'
import { SECTION_HEIGHT } from '@lade/node/hashing/native-piece-hasher'
import { pieceHashing } from '@lade/node/hashing/piece-hashing'

/**
 * The raw bytes under one node of the level that proofs are made from: so much of its piece one reads, and each 127 MiB of a piece have
 * 32 KiB of nodes there.
 */
export const SECTION_BYTES = rawCapacityBytes(SECTION_HEIGHT)

/** Computes that level of a piece's tree from its bytes, in order; memory is one section and 32 bytes for each. */
export class SectionRoots {
  readonly #section = Buffer.alloc(SECTION_BYTES)
  readonly #roots: Uint8Array[] = []
  #filledBytes = 0

  /** Takes the next bytes, of any length. They are read before this returns. */
  update(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; ) {
      const part = chunk.subarray(at, at + SECTION_BYTES - this.#filledBytes)
      this.#section.set(part, this.#filledBytes)
      this.#filledBytes += part.length
      at += part.length
      if (this.#filledBytes === SECTION_BYTES) this.#close()
    }
  }

  /** Ends the bytes: 32 bytes for each started section, the last one over zeros where bytes are missing. */
  finish(): Uint8Array {
    if (this.#filledBytes > 0) {
      this.#section.fill(0, this.#filledBytes)
      this.#close()
    }
    return new Uint8Array(Buffer.concat(this.#roots))
  }

  #close(): void {
    this.#roots.push(pieceHashing.whole(this.#section).root)
    this.#filledBytes = 0
  }
}
