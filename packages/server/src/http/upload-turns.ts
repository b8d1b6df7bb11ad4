import { RankedQueue } from '@lade/node/budget/ranked-queue'
import type { WorkBudget } from '@lade/node/budget/work-budget'
import type { RequestRounds } from './request-rounds.ts'

/** Two or three commits of SQLite, so that there is always a next one. */
export const SQLITE_TURNS = 96

export interface UploadTurnsOptions {
  readonly budget: Pick<WorkBudget, 'unpaidRank'>
  /** How many uploads are recorded at the same time: Infinity with PostgreSQL, where those of one caller may stand still without the others. */
  readonly maxCount: number
}

interface Waiting {
  readonly task: () => void
  readonly rounds: Pick<RequestRounds, 'begin'>
  readonly principalOf: () => string
}

/**
 * Holds small uploads back while many others are recorded. One that is recorded keeps some 10 KB of objects in memory, which the garbage
 * collector copies again and again while it takes long; one that waits keeps its request. The next one is of the principal with the least
 * unpaid time, so that the hundreds of uploads of one caller delay those of another by `maxCount` at most.
 *
 * @example
 * const turns = new UploadTurns({ budget, maxCount: SQLITE_TURNS })
 * turns.begin(() => handle(request, response), rounds, () => principalOf(request))
 * // in the handler
 * const staged = await turns.take(() => stageAtOnce(service, input, takeBody))
 */
export class UploadTurns {
  readonly #waiting: RankedQueue<Waiting>
  /** Uploads that were let in and whose request has not begun. */
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
    const waiting = { task, rounds, principalOf }
    if (this.#waiting.size > 0 || !this.#hasRoom) this.#waiting.push(principalOf(), waiting)
    else this.#enter(waiting)
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

  #enter({ task, rounds, principalOf }: Waiting): void {
    this.#entering += 1
    rounds.begin(() => {
      this.#entering -= 1
      // Whether it is recorded or refused: what waits is looked at again behind it.
      this.#wake()
      task()
    }, principalOf)
  }

  #wake(): void {
    if (this.#isRoundSet || this.#waiting.size === 0) return
    this.#isRoundSet = true
    setImmediate(() => {
      this.#isRoundSet = false
      while (this.#hasRoom) {
        const next = this.#waiting.take()
        if (next === undefined) return
        this.#enter(next.item)
      }
    })
  }
}
