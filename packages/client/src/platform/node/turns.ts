import { setImmediate as turn } from 'node:timers/promises'

/** How long work goes on before others have a turn. */
const TURN_MS = 5

/** Short pieces of work, one after another on this thread, between which others have their turn every few milliseconds. */
export class Turns {
  #endsAt = 0

  /** Resolves when the next piece may begin. */
  async next(): Promise<void> {
    if (performance.now() <= this.#endsAt) return
    await turn()
    this.#endsAt = performance.now() + TURN_MS
  }
}
