import { describe, expect, it } from 'vitest'
import { ByteRateLimit } from './byte-rate-limit.ts'

describe('ByteRateLimit', () => {
  it('makes its callers wait as long as their bytes take, together', async () => {
    const waits: number[] = []
    const limit = new ByteRateLimit(1000, async (ms) => void waits.push(ms))
    const { signal } = new AbortController()
    await limit.passed(100, signal)
    await limit.passed(200, signal)
    expect(waits[0]).toBeCloseTo(100, -1)
    // Nobody slept, so the second still owes what the first did.
    expect(waits[1]).toBeCloseTo(300, -1)
  })

  it('puts off waits that are shorter than a timer can be', async () => {
    const waits: number[] = []
    const limit = new ByteRateLimit(1_000_000, async (ms) => void waits.push(ms))
    const { signal } = new AbortController()
    for (let call = 0; call < 40; call += 1) await limit.passed(1000, signal)
    expect(waits.length).toBeGreaterThan(0)
    expect(waits.length).toBeLessThan(40)
  })

  it('keeps to the rate by the clock', async () => {
    const limit = new ByteRateLimit(1_000_000)
    const { signal } = new AbortController()
    const startedAt = performance.now()
    for (let call = 0; call < 10; call += 1) await limit.passed(10_000, signal)
    expect(performance.now() - startedAt).toBeGreaterThan(90)
  })

  it('ends a wait with the reason of its signal', async () => {
    const limit = new ByteRateLimit(1)
    const ending = new AbortController()
    const waiting = limit.passed(1_000_000, ending.signal)
    ending.abort()
    await expect(waiting).rejects.toThrow()
  })
})
