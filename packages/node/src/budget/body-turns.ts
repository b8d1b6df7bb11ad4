import { FairQueue, type FairQueueOptions } from './fair-queue.ts'

/** A body that brings nothing for this long gives up its turn. */
const IDLE_MS = 1000

/** The turns of one body. */
export interface BodyTurns {
  /**
   * Resolves when it is the turn of the body; undefined while it has the turn. The body keeps the turn while it brings bytes. Calls resolve in
   * order.
   *
   * @throws the reason of `signal`, or of the signal that the turns were opened with.
   */
  take(signal?: AbortSignal): Promise<void> | undefined
  /** Ends a call of `take`: its bytes are read. */
  rest(): void
  /** The body is over. */
  end(): void
}

/**
 * Lets a few bodies at a time be read; others wait without being read at all, so that they take next to no memory.
 *
 * A body keeps its turn from its first byte to its last, unless it stalls for a second. Then the next body gets the turn, and the slow one waits
 * for another when it goes on. So a slow sender delays nobody. The principal with the lowest rank goes first, as in `FairQueue`.
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
