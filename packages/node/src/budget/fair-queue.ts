import { LadeError } from '@lade/core/errors'
import { RankedQueue } from './ranked-queue.ts'
import type { Work, WorkBudget } from './work-budget.ts'

/** Whoever waits longer is counted as held back. */
const LONG_MS = 1000

export interface FairQueueOptions {
  readonly work: Work
  readonly budget: Pick<WorkBudget, 'rank' | 'heldBack'>
  /** Tasks at once. */
  readonly slots: number
  /** Tasks at once of one principal. @default as many as there are */
  readonly slotsPerPrincipal?: number
  /** Tasks of one principal that may wait; further ones are refused. @default Infinity */
  readonly waitingPerPrincipal?: number
}

/** A task that waits for its turn. */
interface Waiting {
  readonly start: () => void
}

/**
 * Runs tasks, a few at once. The next one is of the principal that has used the least processor time lately, unpaid time above all, so
 * that nobody waits for those who use a lot. The tasks of one principal begin in the order in which they were given.
 *
 * @example
 * const queue = new FairQueue({ work: 'challenge', budget, slots: 8, slotsPerPrincipal: 2, waitingPerPrincipal: 4 })
 * await queue.run('ip:192.0.2.7', () => prove(file)) // what the task resolves to
 */
export class FairQueue {
  readonly #options: Required<FairQueueOptions>
  readonly #running = new Map<string, number>()
  readonly #waiting: RankedQueue<Waiting>
  #runningCount = 0

  constructor(options: FairQueueOptions) {
    this.#options = { slotsPerPrincipal: options.slots, waitingPerPrincipal: Infinity, ...options }
    this.#waiting = new RankedQueue((principal) => options.budget.rank(principal))
  }

  /** Tasks that are running or waiting. */
  get size(): number {
    return this.#runningCount + this.#waiting.size
  }

  /**
   * Runs a task when its turn comes.
   *
   * @param signal - a task whose signal is aborted while it waits is not run; its reason is what the call rejects with.
   * @throws {LadeError} `over_budget` when too many tasks of the principal wait already.
   */
  async run<T>(principal: string, task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#turn(principal, signal)
    try {
      return await task()
    } finally {
      this.#runningCount -= 1
      const left = (this.#running.get(principal) ?? 1) - 1
      if (left === 0) this.#running.delete(principal)
      else this.#running.set(principal, left)
      this.#startNext()
    }
  }

  /** Resolves when the slot is taken. */
  #turn(principal: string, signal: AbortSignal | undefined): Promise<void> | void {
    signal?.throwIfAborted()
    const waitingCount = this.#waiting.countOf(principal)
    if (this.#mayStart(principal) && waitingCount === 0) return this.#take(principal)
    const { work, budget, waitingPerPrincipal, slotsPerPrincipal } = this.#options
    if (waitingCount >= waitingPerPrincipal) {
      budget.heldBack({ principal, work, how: 'refused' })
      const used = waitingCount + (this.#running.get(principal) ?? 0)
      const limit = waitingPerPrincipal + slotsPerPrincipal
      throw new LadeError('over_budget', { work, unit: 'requests', used, limit, retryAfterSeconds: 1 })
    }
    const since = performance.now()
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.#waiting.remove(principal, waiting)
        reject(signal?.reason)
      }
      const waiting = {
        start: () => {
          signal?.removeEventListener('abort', abort)
          this.#take(principal)
          if (performance.now() - since > LONG_MS) budget.heldBack({ principal, work, how: 'waited' })
          resolve()
        },
      }
      signal?.addEventListener('abort', abort, { once: true })
      this.#waiting.push(principal, waiting)
    })
  }

  #mayStart(principal: string): boolean {
    const { slots, slotsPerPrincipal } = this.#options
    return this.#runningCount < slots && (this.#running.get(principal) ?? 0) < slotsPerPrincipal
  }

  #take(principal: string): void {
    this.#runningCount += 1
    this.#running.set(principal, (this.#running.get(principal) ?? 0) + 1)
  }

  #startNext(): void {
    while (this.#runningCount < this.#options.slots) {
      const next = this.#waiting.take((principal) => this.#mayStart(principal))
      if (next === undefined) return
      next.item.start()
    }
  }
}
