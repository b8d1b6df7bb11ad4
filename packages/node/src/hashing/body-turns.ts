import { FairQueue, type FairQueueOptions } from '../budget/fair-queue.ts'

/** A body that brings nothing for so long gives its turn to the next. */
const IDLE_MS = 1000

/** The turns of one body. */
export interface BodyTurns {
  /**
   * Resolves when it is the body's turn, which it then keeps while it brings bytes; undefined while it has it. Calls resolve in order.
   *
   * @throws the reason of `signal`, or of the signal that the turns were opened with.
   */
  take(signal?: AbortSignal): Promise<void> | undefined
  /** Ends a call of `take`: what was brought is read. */
  rest(): void
  /** The body is over. */
  end(): void
}

/**
 * Lets a few bodies at a time be read; others wait without being read at all, so that they take next to no memory.
 *
 * A body keeps its turn from its first byte to its last, unless it stands still for a second: whoever sends slowly keeps nobody waiting, and
 * waits again for a turn when it goes on. The next turn is of the principal that has used the least.
 */
export class TurnsOfBodies {
  readonly #queue: FairQueue

  constructor(options: FairQueueOptions) {
    this.#queue = new FairQueue(options)
  }

  /** @param signal - ends the body wherever it waits. */
  open(principal: string, signal: AbortSignal): BodyTurns {
    let turn: Promise<void> | undefined
    let giveBack: (() => void) | undefined
    let takers = 0
    let idle: NodeJS.Timeout | undefined
    const leave = (): void => {
      clearTimeout(idle)
      giveBack?.()
      giveBack = undefined
      turn = undefined
    }
    const begin = (until: AbortSignal): Promise<void> =>
      new Promise((resolve, reject) => {
        const keep = (): Promise<void> =>
          new Promise((end) => {
            giveBack = end
            resolve()
          })
        this.#queue.run(principal, keep, until).catch(reject)
      })
    return {
      take(taker) {
        takers += 1
        clearTimeout(idle)
        if (giveBack !== undefined) return undefined
        turn ??= begin(taker === undefined ? signal : AbortSignal.any([signal, taker]))
        return turn
      },
      rest() {
        takers -= 1
        if (takers === 0 && giveBack !== undefined) idle = setTimeout(leave, IDLE_MS).unref()
      },
      end: leave,
    }
  }
}
