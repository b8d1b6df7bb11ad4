import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { repeat } from './repeat.ts'

describe('repeat', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  /** A task whose runs end when they are told to. */
  function openEnded() {
    const ends: (() => void)[] = []
    const task = () => new Promise<void>((resolve) => ends.push(resolve))
    return { task, ends }
  }

  test('runs a task again when the last run has ended for a while', async () => {
    const { task, ends } = openEnded()
    const repetition = repeat(task, 1000)
    await vi.advanceTimersByTimeAsync(999)
    expect(ends).toHaveLength(0)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(ends).toHaveLength(1)
    ends[0]?.()
    await vi.advanceTimersByTimeAsync(999)
    expect(ends).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(ends).toHaveLength(2)
    ends[1]?.()
    await repetition.stop()
  })

  test('stops when the run under way has ended, and runs no more', async () => {
    const { task, ends } = openEnded()
    const repetition = repeat(task, 1000)
    await vi.advanceTimersByTimeAsync(1000)
    let isStopped = false
    const stopping = repetition.stop().then(() => {
      isStopped = true
    })
    await vi.advanceTimersByTimeAsync(5000)
    expect(isStopped).toBe(false)
    ends[0]?.()
    await stopping
    await vi.advanceTimersByTimeAsync(5000)
    expect(ends).toHaveLength(1)
  })

  test('stops before the first run', async () => {
    const { task, ends } = openEnded()
    await repeat(task, 1000).stop()
    await vi.advanceTimersByTimeAsync(5000)
    expect(ends).toHaveLength(0)
  })
})
