import { RankedQueue } from '@lade/node/budget/ranked-queue'
import type { WorkBudget } from '@lade/node/budget/work-budget'
import type { RequestRounds } from './request-rounds.ts'

/** Enough for two or three commits of SQLite, so that the writing thread always has a next one. */
export const SQLITE_TURNS = 96

export interface UploadTurnsOptions {
  readonly budget: Pick<WorkBudget, 'unpaidRank'>
  /** How many uploads are recorded at the same time. Infinity with PostgreSQL, where a process that hangs must hold up only the callers that it writes for. */
  readonly maxCount: number
}

/**
 * Holds small uploads back while many others are being recorded. An upload that is being recorded has some 10 KB of objects in memory, which
 * the garbage collector copies if they live long. One that waits has only its request. The next to begin is of the principal with the least
 * unpaid time, so hundreds of uploads of one caller delay those of another by `maxCount` uploads at most.
 *
 * @example
 * const turns = new UploadTurns({ budget, maxCount: SQLITE_TURNS })
 * turns.begin(() => handle(request, response), rounds, () => principalOf(request))
 * // in the handler
 * const staged = await turns.take(() => stageAtOnce(service, input, takeBody))
 */
export class UploadTurns {
  readonly #waiting: RankedQueue<() => void>
  /** Requests that were let in and wait for their round. */
  #entering = 0
  #taken = 0
  #isRoundSet = false
  readonly #maxCount: number

  constructor({ budget, maxCount }: UploadTurnsOptions) {
    this.#maxCount = maxCount
    this.#waiting = new RankedQueue((principal) => budget.unpaidRank(principal))
  }

  /** Begins a request in one of the rounds, now or once there is room for it. */
  begin(task: () => void, rounds: Pick<RequestRounds, 'begin'>, principalOf: () => string): void {
    const enter = (): void => {
      this.#entering += 1
      rounds.begin(() => {
        this.#entering -= 1
        // An upload that is refused before it is recorded lets the next one in, too.
        this.#wake()
        task()
      }, principalOf)
    }
    if (this.#waiting.size > 0 || !this.#hasRoom) this.#waiting.push(principalOf(), enter)
    else enter()
  }

  /** Records an upload, and counts it until that is done. */
  async take<Result>(record: () => Promise<Result>): Promise<Result> {
    this.#taken += 1
    try {
      return await record()
    } finally {
      this.#taken -= 1
      this.#wake()
    }
  }

  get #hasRoom(): boolean {
    return this.#entering + this.#taken < this.#maxCount
  }

  #wake(): void {
    if (this.#isRoundSet || this.#waiting.size === 0) return
    this.#isRoundSet = true
    setImmediate(() => {
      this.#isRoundSet = false
      while (this.#hasRoom) {
        const next = this.#waiting.take()
        if (next === undefined) return
        next.item()
      }
    })
  }
}
