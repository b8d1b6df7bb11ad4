import type { Head } from './deal.ts'
import type { RoundPace } from './round-plan.ts'

/** The newest observation counts this much. */
const WEIGHT = 0.2
/** Before the first observation. */
const SECONDS_PER_BLOCK = 2

/** How fast a chain makes blocks, and takes one transaction after the other. */
export class ChainPace {
  #secondsPerBlock: number | undefined
  #blocksPerTransaction = 1
  #head: Head | undefined

  seeHead(head: Head): void {
    const before = this.#head
    if (before !== undefined && head.number > before.number) {
      const seconds = (head.time - before.time) / Number(head.number - before.number)
      this.#secondsPerBlock = averageOf(this.#secondsPerBlock ?? seconds, seconds)
    }
    this.#head = head
  }

  /** @param blocks - that came from one transaction to the next. */
  seeTransaction(blocks: bigint): void {
    this.#blocksPerTransaction = averageOf(this.#blocksPerTransaction, Math.max(1, Number(blocks)))
  }

  at({ number, time }: Head): RoundPace {
    const secondsPerBlock = this.#secondsPerBlock ?? SECONDS_PER_BLOCK
    return { number, time, secondsPerBlock, secondsPerTransaction: this.#blocksPerTransaction * secondsPerBlock }
  }
}

function averageOf(before: number, now: number): number {
  return before + WEIGHT * (now - before)
}
