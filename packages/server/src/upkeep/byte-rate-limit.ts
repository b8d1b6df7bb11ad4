import { setTimeout as sleep } from 'node:timers/promises'

/** Shorter waits are put off: a timer is not as exact as that. */
const SHORTEST_WAIT_MS = 5

/**
 * Holds whoever moves bytes to so many in a second, from one call to the next.
 *
 * @param wait - as `setTimeout` of node:timers/promises, in milliseconds.
 */
export class ByteRateLimit {
  readonly #bytesPerMs: number
  readonly #wait: (ms: number, signal: AbortSignal) => Promise<void>
  #freeAtMs = 0

  constructor(
    bytesPerSecond: number,
    wait: (ms: number, signal: AbortSignal) => Promise<void> = (ms, signal) =>
      sleep(ms, undefined, { signal, ref: false }),
  ) {
    this.#bytesPerMs = bytesPerSecond / 1000
    this.#wait = wait
  }

  /** Resolves when these bytes may have been moved. Rejects when `signal` is aborted first. */
  async passed(sizeBytes: number, signal: AbortSignal): Promise<void> {
    const now = performance.now()
    this.#freeAtMs = Math.max(this.#freeAtMs, now) + sizeBytes / this.#bytesPerMs
    const ms = this.#freeAtMs - now
    if (ms >= SHORTEST_WAIT_MS) await this.#wait(ms, signal)
  }
}
