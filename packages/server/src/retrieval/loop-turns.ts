import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { FairQueue } from '@lade/node/budget/fair-queue'
import type { WorkBudget } from '@lade/node/budget/work-budget'

/** What all walks together may do between two turns of everybody else. */
const SLICE_MS = 4
/** Those who are over their budget wait for this long, one after the other, for each slice. */
const SLOW_TURN_MS = 20

/**
 * Shares the event loop between all who walk through DAGs, and leaves it to everybody else in between.
 *
 * In one round of the event loop all of them together work for about 4 ms. Who has more to do waits for a round of its own, the
 * principal first that has used the least processor time lately.
 */
export class LoopTurns {
  readonly #budget: WorkBudget
  readonly #turns: FairQueue
  readonly #slowTurns: FairQueue
  #sliceMs = 0
  #isCounting = false

  constructor(budget: WorkBudget) {
    this.#budget = budget
    this.#turns = new FairQueue({ work: 'links', budget, slots: 1 })
    this.#slowTurns = new FairQueue({ work: 'links', budget, slots: 1 })
  }

  /** Counts work of this round. True when who has done it is to wait for its turn. */
  count(processorMs: number): boolean {
    this.#sliceMs += processorMs
    if (!this.#isCounting) {
      this.#isCounting = true
      setImmediate(() => this.#endRound())
    }
    return this.#sliceMs >= SLICE_MS
  }

  /** Resolves in a round that is the caller's. */
  async next(principal: string, signal: AbortSignal | undefined): Promise<void> {
    if (this.#budget.isOver(principal)) await this.#slowTurns.run(principal, () => sleep(SLOW_TURN_MS), signal)
    await this.#turns.run(principal, () => nextTurn(), signal)
    this.#sliceMs = 0
  }

  #endRound(): void {
    this.#isCounting = false
    this.#sliceMs = 0
  }
}
