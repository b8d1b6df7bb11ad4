/** How long one round of the event loop spends on new requests. */
const SLICE_MS = 3

/**
 * Starts requests in the order of their arrival, for at most 3 ms in each round of the event loop. The rest waits for the next round, so that
 * hundreds of requests at once do not delay requests in progress, or new connections, for longer.
 *
 * @example
 * const rounds = new RequestRounds()
 * server.on('request', (request, response) => rounds.begin(() => handle(request, response)))
 */
export class RequestRounds {
  readonly #waiting: (() => void)[] = []
  #startedAt: number | undefined

  /** Runs a task now, or in one of the next rounds. */
  begin(task: () => void): void {
    if (this.#waiting.length > 0 || this.#isOver()) {
      this.#waiting.push(task)
      return
    }
    if (this.#startedAt === undefined) this.#open()
    task()
  }

  #open(): void {
    this.#startedAt = performance.now()
    setImmediate(() => {
      this.#startedAt = undefined
      this.#beginNext()
    })
  }

  #isOver(): boolean {
    return this.#startedAt !== undefined && performance.now() - this.#startedAt >= SLICE_MS
  }

  #beginNext(): void {
    const task = this.#waiting.shift()
    if (task === undefined) return
    if (this.#startedAt === undefined) this.#open()
    try {
      task()
    } finally {
      // Behind the promises that the task has begun: they are part of what it costs.
      queueMicrotask(() =>
        process.nextTick(() => {
          if (!this.#isOver()) this.#beginNext()
        }),
      )
    }
  }
}
