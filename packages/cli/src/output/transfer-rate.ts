const WINDOW_MS = 5000

interface Sample {
  readonly atMs: number
  readonly bytes: number
}

/** How fast bytes come, over the last five seconds. */
export class TransferRate {
  readonly #samples: Sample[] = []

  /** Takes note that `bytes` in all have come at `atMs`, on a clock that only goes forward. */
  add(bytes: number, atMs: number): void {
    this.#samples.push({ bytes, atMs })
    // One sample from before the window stays, so that the window is covered.
    while ((this.#samples[1]?.atMs ?? atMs) < atMs - WINDOW_MS) this.#samples.shift()
  }

  /** Undefined until enough is known for a number that does not jump. */
  bytesPerSecond(): number | undefined {
    const first = this.#samples.at(0)
    const last = this.#samples.at(-1)
    if (first === undefined || last === undefined || last.atMs - first.atMs < 500) return undefined
    return ((last.bytes - first.bytes) * 1000) / (last.atMs - first.atMs)
  }
}
