import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { measured, measuredResult } from './measured.ts'

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
