/** How long one round of the event loop spends on new requests. */
const SLICE_MS = 10

/**
 * Starts requests in the order of their arrival, for at most 10 ms in each round of the event loop. The rest waits for the next round, so that
 * hundreds of requests at once do not delay requests in progress, or new connections, for longer.
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
