import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { measured, measuredResult, measuredShortly } from './measured.ts'

/** Takes some milliseconds of this thread, however much of the machine it has. */
function work(): void {
  createHash('sha256').update(Buffer.alloc(16_777_216)).digest()
}

test('hands on the processor time of a task, and what it answers', () => {
  const { processorMs, result } = measuredResult(() => {
    work()
    return 'done'
  })
  expect(result).toBe('done')
  expect(processorMs).toBeGreaterThan(1)
  expect(measuredResult(() => {}).processorMs).toBeLessThan(5)
})

test('hands on that of a task that fails, which fails as it did', () => {
  const failure = new Error('no good')
  const costs: number[] = []
  const task = (): void => {
    work()
    throw failure
  }
  expect(() => measured(task, (processorMs) => costs.push(processorMs))).toThrow(failure)
  expect(costs).toEqual([expect.any(Number)])
  expect(costs[0]).toBeGreaterThan(1)
})

test('of a short task, hands on what the clock says, up to a limit', () => {
  const costs: number[] = []
  expect(
    measuredShortly(
      () => 'done',
      1,
      (processorMs) => costs.push(processorMs),
    ),
  ).toBe('done')
  measuredShortly(work, 1, (processorMs) => costs.push(processorMs))
  expect(costs[0]).toBeGreaterThan(0)
  expect(costs[0]).toBeLessThanOrEqual(1)
  expect(costs[1]).toBe(1)
})
