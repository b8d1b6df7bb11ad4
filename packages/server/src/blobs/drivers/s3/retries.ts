import { setTimeout as sleep } from 'node:timers/promises'
import { isFailure } from './s3-failure.ts'

/** How often a call is tried, and how long to wait between tries. */
export interface RetryRules {
  /** How often a call is tried, the first time included. @default 5 */
  readonly tries: number
  /** No try begins later than this after the first. @default 20_000 */
  readonly totalMs: number
  /** The longest wait before the second try; it doubles from try to try. @default 100 */
  readonly firstWaitMs: number
  /** @default 5_000 */
  readonly longestWaitMs: number
  /**
   * How many tries more than calls the store is asked for while it does not recover: each second try takes one, and ten
   * successes bring one back. A store that is down sees that many retries in all, and not five times the load.
   * @default 100
   */
  readonly reserve: number
}

export const DEFAULT_RETRY_RULES: RetryRules = {
  tries: 5,
  totalMs: 20_000,
  firstWaitMs: 100,
  longestWaitMs: 5_000,
  reserve: 100,
}

const RESERVE_PER_SUCCESS = 0.1

/** Tries calls again that failed for a passing reason, with full jitter, so that many callers do not come back together. */
export class Retries {
  readonly rules: RetryRules
  readonly #random: () => number
  readonly #onRetry: () => void
  #reserve: number

  /** @param onRetry - called for each try but the first. */
  constructor(rules: RetryRules, random: () => number = Math.random, onRetry: () => void = () => {}) {
    this.rules = rules
    this.#onRetry = onRetry
    this.#random = random
    this.#reserve = rules.reserve
  }

  /** @throws what the last try failed with; an abort ends the waiting at once. */
  async run<T>(signal: AbortSignal, attempt: () => Promise<T>): Promise<T> {
    const startedAt = performance.now()
    for (let tries = 1; ; tries += 1) {
      try {
        const result = await attempt()
        this.#reserve = Math.min(this.rules.reserve, this.#reserve + RESERVE_PER_SUCCESS)
        return result
      } catch (error) {
        const waitMs = this.waitBefore(tries, error, performance.now() - startedAt)
        if (waitMs === undefined || signal.aborted) throw error
        await this.pause(waitMs, signal, error)
      }
    }
  }

  /** How long to wait after try number `tries` has failed with `error`; undefined when it was the last. */
  waitBefore(tries: number, error: unknown, passedMs: number): number | undefined {
    const { rules } = this
    if (!isFailure(error, 'transient') || tries >= rules.tries || this.#reserve < 1) return undefined
    const longestMs = Math.min(rules.longestWaitMs, rules.firstWaitMs * 2 ** (tries - 1))
    const waitMs = Math.max(this.#random() * longestMs, error.retryAfterMs ?? 0)
    if (passedMs + waitMs > rules.totalMs) return undefined
    this.#reserve -= 1
    this.#onRetry()
    return waitMs
  }

  /** Waits, or throws `error` when `signal` aborts meanwhile. */
  async pause(waitMs: number, signal: AbortSignal, error: unknown): Promise<void> {
    await sleep(waitMs, undefined, { signal }).catch(() => {
      throw error
    })
  }
}
