import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { oneATurn } from './one-a-turn.ts'

test('one call a turn of the event loop resolves, in their order', async () => {
  const takeTurn = oneATurn()
  const done: number[] = []
  const calls = [0, 1, 2].map((call) => takeTurn().then(() => void done.push(call)))
  const seen: number[] = []
  while (done.length < 3) {
    await nextTurn()
    seen.push(done.length)
  }
  await Promise.all(calls)
  expect(done).toEqual([0, 1, 2])
  expect(seen.every((count, turn) => count - (seen[turn - 1] ?? 0) <= 1)).toBe(true)
})
