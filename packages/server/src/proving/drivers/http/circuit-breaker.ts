import { LadeError } from '@lade/core/errors'
import { isPassing, unusable } from './stage-failure.ts'

const LONGEST_OPEN_MS = 5 * 60_000

/** After how many failures calls pause, and for how long. */
export interface CircuitBreakerOptions {
  /** So many failures in a row open it. @default 10 */
  readonly failures?: number
  /** How long it is open at first; twice as long each time that it opens again, up to five minutes. @default 15_000 */
  readonly openMs?: number
  /** Milliseconds of a clock that only goes forwards. @default performance.now */
  readonly now?: () => number
}

/**
 * Leaves a prover alone that keeps failing.
 *
 * While it is open nothing is called. Then one call goes through, and what becomes of it decides: closed, or open for twice as long. A
 * refusal is an answer, and so is no failure; nor is what the caller ended.
 */
export class CircuitBreaker {
  readonly #limit: number
  readonly #firstOpenMs: number
  readonly #now: () => number
  #failures = 0
  #openMs: number
  #openUntil: number | undefined
  #isProbing = false

  constructor({ failures = 10, openMs = 15_000, now = () => performance.now() }: CircuitBreakerOptions = {}) {
    this.#limit = failures
    this.#firstOpenMs = openMs
    this.#openMs = openMs
    this.#now = now
  }

  /** @throws {LadeError} `stage_failed` while it is open; what `call` throws. */
  async run<Result>(call: () => Promise<Result>): Promise<Result> {
    const isProbe = this.#enter()
    try {
      const result = await call()
      this.#close()
      return result
    } catch (error) {
      if (isPassing(error)) this.#fail(isProbe)
      else if (LadeError.has(error, 'stage_failed')) this.#close()
      throw error
    } finally {
      if (isProbe) this.#isProbing = false
    }
  }

  #enter(): boolean {
    if (this.#openUntil === undefined) return false
    const waitMs = this.#openUntil - this.#now()
    if (waitMs > 0 || this.#isProbing) {
      const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000))
      throw unusable(`The prover failed ${this.#failures} times in a row and is paused for a while.`, {
        retryAfterSeconds,
      })
    }
    this.#isProbing = true
    return true
  }

  #fail(isProbe: boolean): void {
    this.#failures += 1
    // Calls that were under way when it opened change nothing any more.
    if (this.#failures < this.#limit || (this.#openUntil !== undefined && !isProbe)) return
    if (isProbe) this.#openMs = Math.min(2 * this.#openMs, LONGEST_OPEN_MS)
    this.#openUntil = this.#now() + this.#openMs
  }

  #close(): void {
    this.#failures = 0
    this.#openMs = this.#firstOpenMs
    this.#openUntil = undefined
  }
}
