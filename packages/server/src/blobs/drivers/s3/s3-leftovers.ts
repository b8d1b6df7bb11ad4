import type { S3Calls } from './s3-calls.ts'
import type { S3Keys } from './s3-keys.ts'
import { sweepMarker } from './s3-sweep.ts'

const EVERY_MS = 3000

/**
 * What this process could not clear away itself, because the store did not answer: it is tried again until it is done. When the process
 * ends before that, whoever sweeps its pending place finds the same markers.
 */
export class S3Leftovers {
  readonly #calls: S3Calls
  readonly #keys: S3Keys
  readonly #markers = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #sweeping: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(calls: S3Calls, keys: S3Keys) {
    this.#calls = calls
    this.#keys = keys
  }

  /** Has everything swept that the marker under `key` is about. */
  add(key: string): void {
    this.#markers.add(key)
    this.#schedule()
  }

  /** Resolves when nothing is swept any more. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#sweeping
  }

  #schedule(): void {
    if (this.#isClosed || this.#timer !== undefined || this.#markers.size === 0) return
    this.#timer = setTimeout(() => {
      this.#sweeping = this.#sweep().finally(() => {
        this.#timer = undefined
        this.#schedule()
      })
    }, EVERY_MS)
    this.#timer.unref()
  }

  async #sweep(): Promise<void> {
    for (const marker of [...this.#markers]) {
      if (this.#isClosed) return
      // What fails is tried again in a while.
      const isDone = await sweepMarker(this.#calls, this.#keys, marker).catch(() => false)
      if (isDone) this.#markers.delete(marker)
    }
  }
}
