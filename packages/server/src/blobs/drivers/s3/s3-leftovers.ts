import type { S3Calls } from './s3-calls.ts'
import type { S3Keys } from './s3-keys.ts'
import { sweepMarker, sweepUnmarked } from './s3-sweep.ts'

const EVERY_MS = 3000
const UNMARKED_EVERY_MS = 3_600_000
/** How old an upload without a marker is before it is ended; a clock that is wrong by hours does no harm. */
const UNMARKED_AFTER_MS = 24 * 3_600_000

/**
 * What this process could not clear away itself, because the store did not answer: it is tried again until it is done. When the process
 * ends before that, whoever sweeps its pending place finds the same markers. Now and then uploads are ended that no marker is about.
 */
export class S3Leftovers {
  readonly #calls: S3Calls
  readonly #keys: S3Keys
  readonly #markers = new Set<string>()
  readonly #unmarkedTimer: NodeJS.Timeout
  #timer: NodeJS.Timeout | undefined
  #sweeping: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(calls: S3Calls, keys: S3Keys) {
    this.#calls = calls
    this.#keys = keys
    this.#unmarkedTimer = setInterval(() => void this.#sweepUnmarked(), UNMARKED_EVERY_MS)
    this.#unmarkedTimer.unref()
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
    clearInterval(this.#unmarkedTimer)
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
      try {
        await sweepMarker(this.#calls, marker)
        this.#markers.delete(marker)
      } catch {
        // It is tried again in a while.
      }
    }
  }

  async #sweepUnmarked(): Promise<void> {
    const before = new Date(this.#calls.settings.now() - UNMARKED_AFTER_MS)
    // What fails is tried again the next time.
    this.#sweeping = Promise.all([this.#sweeping, sweepUnmarked(this.#calls, this.#keys, before).catch(() => 0)]).then(
      () => {},
    )
    await this.#sweeping
  }
}
