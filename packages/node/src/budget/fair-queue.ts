import { LadeError } from '@lade/core/errors'
import type { Work, WorkBudget } from './work-budget.ts'

/** Whoever waits longer is counted as held back. */
const LONG_MS = 1000

export interface FairQueueOptions {
  readonly work: Work
  readonly budget: Pick<WorkBudget, 'rankMs' | 'heldBack'>
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
  readonly #waiting = new Map<string, Waiting[]>()
  #runningCount = 0

  constructor(options: FairQueueOptions) {
    this.#options = { slotsPerPrincipal: options.slots, waitingPerPrincipal: Infinity, ...options }
  }

  /** Tasks that are running or waiting. */
  get size(): number {
    let waiting = 0
    for (const tasks of this.#waiting.values()) waiting += tasks.length
    return this.#runningCount + waiting
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
    if (this.#mayStart(principal) && !this.#waiting.has(principal)) return this.#take(principal)
    const tasks = this.#waiting.get(principal) ?? []
    const { work, budget, waitingPerPrincipal, slotsPerPrincipal } = this.#options
    if (tasks.length >= waitingPerPrincipal) {
      budget.heldBack({ principal, work, how: 'refused' })
      const used = tasks.length + (this.#running.get(principal) ?? 0)
      const limit = waitingPerPrincipal + slotsPerPrincipal
      throw new LadeError('over_budget', { work, unit: 'requests', used, limit, retryAfterSeconds: 1 })
    }
    this.#waiting.set(principal, tasks)
    const since = performance.now()
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.#forget(principal, waiting)
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
      tasks.push(waiting)
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
    const { budget } = this.#options
    while (true) {
      let next: string | undefined
      let leastMs = Infinity
      for (const principal of this.#waiting.keys()) {
        const rankMs = budget.rankMs(principal)
        if (rankMs >= leastMs || !this.#mayStart(principal)) continue
        next = principal
        leastMs = rankMs
      }
      const waiting = next === undefined ? undefined : this.#waiting.get(next)?.[0]
      if (next === undefined || waiting === undefined) return
      this.#forget(next, waiting)
      waiting.start()
    }
  }

  #forget(principal: string, waiting: Waiting): void {
    const tasks = this.#waiting.get(principal)
    const place = tasks?.indexOf(waiting) ?? -1
    if (place >= 0) tasks?.splice(place, 1)
    if (tasks?.length === 0) this.#waiting.delete(principal)
  }
}
