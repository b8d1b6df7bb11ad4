import { LadeError } from '@lade/core/errors'

const RETRY_AFTER_SECONDS = 10

/** A body for which a thread holds memory. */
export interface Holder {
  readonly principal: string
  /** Ends the body; its memory is given back at once. */
  readonly end: (reason: LadeError) => void
}

/**
 * Bounds the memory that bodies hold together. When it is too much, the largest body of the principal that holds the most is ended. A body
 * that is alone may hold more: other limits bound it.
 */
export class HeldMemory {
  readonly #maxBytes: number
  readonly #held = new Map<Holder, number>()

  /** @param maxBytes - what several bodies may hold together. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Notes how much a body holds now; 0 when it is over. */
  set(holder: Holder, heldBytes: number): void {
    if (heldBytes === 0) this.#held.delete(holder)
    else this.#held.set(holder, heldBytes)
    let usedBytes = [...this.#held.values()].reduce((sum, bytes) => sum + bytes, 0)
    while (usedBytes > this.#maxBytes && this.#held.size > 1) {
      const largest = this.#largestOfMost()
      if (largest === undefined) return
      const { principal, end } = largest.holder
      this.#held.delete(largest.holder)
      usedBytes -= largest.heldBytes
      const evidence = { unit: 'bytes', used: this.#of(principal) + largest.heldBytes, limit: this.#maxBytes } as const
      end(new LadeError('over_budget', { work: 'hash', ...evidence, retryAfterSeconds: RETRY_AFTER_SECONDS }))
    }
  }

  #of(principal: string): number {
    let bytes = 0
    for (const [holder, heldBytes] of this.#held) if (holder.principal === principal) bytes += heldBytes
    return bytes
  }

  #largestOfMost(): { readonly holder: Holder; readonly heldBytes: number } | undefined {
    const byPrincipal = new Map<string, number>()
    for (const [{ principal }, bytes] of this.#held)
      byPrincipal.set(principal, (byPrincipal.get(principal) ?? 0) + bytes)
    let largest: { holder: Holder; heldBytes: number; ofPrincipal: number } | undefined
    for (const [holder, heldBytes] of this.#held) {
      const ofPrincipal = byPrincipal.get(holder.principal) ?? 0
      const isMore =
        largest === undefined ||
        ofPrincipal > largest.ofPrincipal ||
        (ofPrincipal === largest.ofPrincipal && heldBytes > largest.heldBytes)
      if (isMore) largest = { holder, heldBytes, ofPrincipal }
    }
    return largest
  }
}
