/** How long after the last request others are expected. */
const RECENT_MS = 1000

/** Whether callers are being answered, so that work that can wait leaves them the processor. */
export class RequestsInHand {
  #count = 0
  #lastEndedAt = Number.NEGATIVE_INFINITY

  /** True while a request is being answered, and for a second after the last one. */
  get areThere(): boolean {
    return this.#count > 0 || performance.now() - this.#lastEndedAt < RECENT_MS
  }

  /** To be called once for each request, with `end` to follow. */
  begin(): void {
    this.#count += 1
  }

  end(): void {
    this.#count -= 1
    this.#lastEndedAt = performance.now()
  }
}
