/** How long requests may be begun between two turns of everything else: what is under way, and new connections. */
const SLICE_MS = 10

/**
 * Begins requests in the order in which they came, so many in a round of the event loop as take 10 ms. Hundreds that come at once hold up
 * nobody for longer than that.
 *
 * @example
 * const rounds = new RequestRounds()
 * server.on('request', (request, response) => rounds.begin(() => handle(request, response)))
 */
export class RequestRounds {
  readonly #waiting: (() => void)[] = []
  #usedMs = 0
  #isCounting = false

  /** Runs a task now, or in one of the next rounds. */
  begin(task: () => void): void {
    if (this.#waiting.length > 0 || this.#usedMs >= SLICE_MS) this.#waiting.push(task)
    else this.#run(task)
  }

  #run(task: () => void): void {
    if (!this.#isCounting) {
      this.#isCounting = true
      setImmediate(() => this.#nextRound())
    }
    const startedAt = performance.now()
    try {
      task()
    } finally {
      this.#usedMs += performance.now() - startedAt
    }
  }

  #nextRound(): void {
    this.#isCounting = false
    this.#usedMs = 0
    while (this.#waiting.length > 0 && this.#usedMs < SLICE_MS) {
      const task = this.#waiting.shift()
      if (task !== undefined) this.#run(task)
    }
  }
}
