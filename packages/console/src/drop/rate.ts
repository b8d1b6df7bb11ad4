/** How much of what came before counts after a second. */
const HALF_LIFE_SECONDS = 3

/**
 * Bytes a second, smoothed, from a count that grows.
 *
 * @example
 * const rate = new Rate()
 * rate.note(0, 0)
 * rate.note(1_000_000, 1000)
 * rate.bytesPerSecond // 1_000_000
 */
export class Rate {
  #bytes: number | undefined
  #atMs = 0
  #rate: number | undefined

  /** @param bytes - sent so far. @param nowMs - a clock that only goes forward. */
  note(bytes: number, nowMs: number): void {
    if (this.#bytes !== undefined && nowMs > this.#atMs) {
      const seconds = (nowMs - this.#atMs) / 1000
      const current = Math.max(0, bytes - this.#bytes) / seconds
      const weight = 0.5 ** (seconds / HALF_LIFE_SECONDS)
      this.#rate = this.#rate === undefined ? current : this.#rate * weight + current * (1 - weight)
    }
    this.#bytes = bytes
    this.#atMs = nowMs
  }

  /** Undefined until it is known. */
  get bytesPerSecond(): number | undefined {
    return this.#rate
  }

  reset(): void {
    this.#bytes = undefined
    this.#rate = undefined
  }
}
