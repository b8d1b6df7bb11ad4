import { setImmediate } from 'node:timers/promises'

const TURN_MS = 5
/** Calls between two looks at the clock. */
const CALLS_PER_LOOK = 64

/**
 * Lets long work on the event loop give others their turn every few milliseconds.
 *
 * @returns a function to be called for each small step; it answers what to wait for, or nothing.
 *
 * @example
 * const pause = turns()
 * for (const step of steps) {
 *   work(step)
 *   await pause()
 * }
 */
export function turns(): () => Promise<void> | undefined {
  let calls = 0
  let endsAt = performance.now() + TURN_MS
  return () => {
    calls += 1
    if (calls % CALLS_PER_LOOK !== 0 || performance.now() < endsAt) return undefined
    return setImmediate().then(() => {
      endsAt = performance.now() + TURN_MS
    })
  }
}
