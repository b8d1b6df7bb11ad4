import { insufficientStorage } from './fs-failure.ts'

/** How old the count of free space may be that a small upload is admitted by. */
const LOOK_MS = 200

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
  readonly #monotonicMs: () => number
  #unwrittenBytes = 0
  #admittedBytes = 0
  /** What `require` found last, and when. */
  #lastLook: { freeBytes: number; readonly at: number } | undefined

  constructor(options: {
    freeBytes: () => Promise<number>
    minFreeBytes: number
    /** @default performance.now() */
    monotonicMs?: () => number
  }) {
    this.#freeBytes = options.freeBytes
    this.#minFreeBytes = options.minFreeBytes
    this.#monotonicMs = options.monotonicMs ?? (() => performance.now())
  }

  /**
   * For small things that are written elsewhere at once: looks at the medium at most every {@link LOOK_MS}, so that
   * thousands of them a second cost a few looks.
   *
   * @throws {LadeError} `insufficient_storage`.
   */
  async require(sizeBytes: number): Promise<void> {
    const now = this.#monotonicMs()
    if (this.#lastLook === undefined || now - this.#lastLook.at >= LOOK_MS) {
      this.#lastLook = { freeBytes: await this.#freeBytes(), at: now }
    }
    if (this.#lastLook.freeBytes - this.#unwrittenBytes - sizeBytes < this.#minFreeBytes) throw insufficientStorage()
    this.#lastLook.freeBytes -= sizeBytes
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
