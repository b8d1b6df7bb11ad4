/** Memory for answers that are written and not taken, of all readers of a process. */
const MAX_BYTES = 128 * 1024 * 1024

interface Held {
  readonly sizeBytes: number
  readonly cutOff: () => void
}

/**
 * Counts the bytes that are held for readers. When there are too many, the readers go that have been waited for longest, so that many who take
 * their time cannot take all memory.
 */
export class UnreadBytes {
  readonly #maxBytes: number
  /** In the order in which they were handed over. */
  readonly #held = new Set<Held>()
  #bytes = 0

  /** @param maxBytes - what may be held. @default 128 MiB */
  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes
  }

  /**
   * Notes bytes that were handed over to a reader.
   *
   * @param cutOff - ends the reader's answer; called at most once, and not for the newest of all.
   * @returns to be called when the reader has taken them, or has gone. Safe to call twice.
   */
  hold(sizeBytes: number, cutOff: () => void): () => void {
    const own = { sizeBytes, cutOff }
    const release = (held: Held): void => {
      if (this.#held.delete(held)) this.#bytes -= held.sizeBytes
    }
    this.#held.add(own)
    this.#bytes += sizeBytes
    for (const oldest of this.#held) {
      if (this.#bytes <= this.#maxBytes || oldest === own) break
      release(oldest)
      oldest.cutOff()
    }
    return () => release(own)
  }
}
