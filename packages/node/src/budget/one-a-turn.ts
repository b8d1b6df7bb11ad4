import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Makes a function whose calls resolve in their order, one in each turn of the event loop. However many have something long to do on
 * this thread, everybody else is served between two of them.
 *
 * @example
 * const takeTurn = oneATurn()
 * await takeTurn()
 * const value = JSON.parse(longText)
 */
export function oneATurn(): () => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  return () => {
    last = last.then(() => nextTurn())
    return last
  }
}
