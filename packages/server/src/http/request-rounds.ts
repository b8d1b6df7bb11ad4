import { RankedQueue } from '@lade/node/budget/ranked-queue'
import type { WorkBudget } from '@lade/node/budget/work-budget'

/** How long a round of the event loop spends on new requests, on average. */
const SLICE_MS = 3
/** A request that takes longer delays others by no more rounds than this time has slices. */
const MAX_DEBT_MS = 48
/** While connections arrive in every round, one round in so many begins requests that wait. */
const ACCEPTING_ROUNDS = 32

/** Its `then` runs a microtask without the asynchronous resource that `queueMicrotask` makes for each. */
const settled = Promise.resolve()

/**
 * Starts requests for 3 ms in each round of the event loop. The rest waits for the next rounds, so that hundreds of requests at once do not delay
 * requests in progress, or new connections, for longer. After a request that takes 12 ms four rounds start none. Of those that wait, the next
 * one is of the principal with the least unpaid time, and of those with the same in turn.
 *
 * @example
 * const rounds = new RequestRounds(budget)
 * server.on('request', (request, response) => rounds.begin(() => handle(request, response), () => principalOf(request)))
 */
export class RequestRounds {
  readonly #waiting: RankedQueue<() => void>
  #debtMs = 0
  #countedUntil = 0
  #isRoundOpen = false
  #hasNewConnection = false
  #acceptingRounds = 0

  constructor(budget: Pick<WorkBudget, 'unpaidRank'>) {
    this.#waiting = new RankedQueue((principal) => budget.unpaidRank(principal))
  }

  /** Runs a task now, or in one of the next rounds. `principalOf` is asked only in the latter case. */
  begin(task: () => void, principalOf: () => string): void {
    if (this.#waiting.size > 0 || this.#debtMs >= SLICE_MS) this.#waiting.push(principalOf(), task)
    else this.#run(task)
  }

  /**
   * Notes that a connection was accepted in this round. Requests that wait then wait for the next round, 31 times in a row at most.
   *
   * libuv accepts one connection in each round. While rounds are long, hundreds of connections wait in the kernel, in order of arrival. Here
   * they wait by rank.
   */
  noteConnection(): void {
    this.#hasNewConnection = true
    this.#openRound()
  }

  #run(task: () => void, next?: () => void): void {
    this.#openRound()
    this.#countedUntil = performance.now()
    try {
      task()
    } finally {
      this.#count()
      // Behind the promises that the task has begun: they are part of what it costs.
      void settled.then(() =>
        process.nextTick(() => {
          this.#count()
          next?.()
        }),
      )
    }
  }

  #count(): void {
    const now = performance.now()
    this.#debtMs += now - this.#countedUntil
    this.#countedUntil = now
  }

  #openRound(): void {
    if (this.#isRoundOpen) return
    this.#isRoundOpen = true
    setImmediate(() => this.#endRound())
  }

  #endRound(): void {
    this.#isRoundOpen = false
    this.#debtMs = Math.max(0, Math.min(this.#debtMs, MAX_DEBT_MS) - SLICE_MS)
    if (this.#waiting.size > 0 || this.#debtMs > 0) this.#openRound()
    this.#acceptingRounds = this.#hasNewConnection ? (this.#acceptingRounds + 1) % ACCEPTING_ROUNDS : 0
    this.#hasNewConnection = false
    if (this.#acceptingRounds === 0) this.#beginWaiting()
    else this.#openRound()
  }

  #beginWaiting(): void {
    if (this.#debtMs >= SLICE_MS) return
    const next = this.#waiting.take()
    if (next === undefined) return
    this.#run(next.item, () => this.#beginWaiting())
  }
}
