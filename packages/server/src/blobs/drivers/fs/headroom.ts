import { insufficientStorage } from './fs-failure.ts'

/** The space that one pending blob will still need. */
export interface SpaceClaim {
  /** Says that `bytes` of it are on the medium now, and so in its own count of free space. */
  spend(bytes: number): void
  /** Gives the rest back. Idempotent. */
  release(): void
}

/**
 * Keeps `minFreeBytes` of the medium free, counting what this process has admitted and not yet written.
 *
 * Other writers of the same medium are seen only through its free space: between two processes that admit at the same
 * moment the floor can be undercut by one blob, and `ENOSPC` remains the last word.
 */
export class Headroom {
  readonly #freeBytes: () => Promise<number>
  readonly #minFreeBytes: number
  #unwrittenBytes = 0
  #admittedBytes = 0

  constructor(options: { freeBytes: () => Promise<number>; minFreeBytes: number }) {
    this.#freeBytes = options.freeBytes
    this.#minFreeBytes = options.minFreeBytes
  }

  /** @throws {LadeError} `insufficient_storage`. */
  async claim(sizeBytes: number): Promise<SpaceClaim> {
    // Both counts are taken before the question, so that bytes written while it is answered are never missed; they
    // may be counted twice, which errs on the side of refusing.
    const unwrittenBefore = this.#unwrittenBytes
    const admittedBefore = this.#admittedBytes
    const freeBytes = await this.#freeBytes()
    const promisedBytes = unwrittenBefore + (this.#admittedBytes - admittedBefore)
    if (freeBytes - promisedBytes - sizeBytes < this.#minFreeBytes) throw insufficientStorage()

    this.#unwrittenBytes += sizeBytes
    this.#admittedBytes += sizeBytes
    let leftBytes = sizeBytes
    const spend = (bytes: number) => {
      const spentBytes = Math.min(bytes, leftBytes)
      leftBytes -= spentBytes
      this.#unwrittenBytes -= spentBytes
    }
    return { spend, release: () => spend(leftBytes) }
  }
}
