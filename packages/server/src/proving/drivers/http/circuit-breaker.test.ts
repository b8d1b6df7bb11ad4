import { LadeError } from '@lade/core/errors'
import { describe, expect, test } from 'vitest'
import { CircuitBreaker } from './circuit-breaker.ts'
import { refused, unusable } from './stage-failure.ts'

function openHarness() {
  const clock = { time: 0 }
  const breaker = new CircuitBreaker({ failures: 10, openMs: 1000, now: () => clock.time })
  let calls = 0
  const call = async (outcome?: unknown) => {
    const failure = await breaker
      .run(async () => {
        calls += 1
        if (outcome !== undefined) throw outcome
      })
      .catch((error: unknown) => error)
    return failure
  }
  const failTimes = async (count: number) => {
    for (let turn = 0; turn < count; turn += 1) await call(unusable('broken'))
  }
  return { breaker, clock, call, failTimes, calls: () => calls }
}

describe('CircuitBreaker', () => {
  test('opens at the tenth failure in a row and calls nothing while it is open', async () => {
    const { clock, call, failTimes, calls } = openHarness()
    await failTimes(9)
    await call()
    await failTimes(10)
    expect(calls()).toBe(20)
    clock.time = 1
    const failure = await call()
    expect(calls()).toBe(20)
    expect(LadeError.has(failure, 'stage_failed') && failure.evidence).toEqual({
      reason: 'The prover failed 10 times in a row and is paused for a while.',
      retryAfterSeconds: 1,
    })
  })

  test('lets one call through after a while: closed when it succeeds, open for twice as long when it fails', async () => {
    const { breaker, clock, call, failTimes, calls } = openHarness()
    await failTimes(10)
    clock.time = 1000
    const gate = Promise.withResolvers<void>()
    const probe = breaker.run(() => gate.promise).catch((error: unknown) => error)
    expect(LadeError.has(await call(), 'stage_failed')).toBe(true)
    gate.reject(unusable('still broken'))
    await probe
    clock.time = 2999
    await call()
    expect(calls()).toBe(10)
    clock.time = 3000
    expect(await call()).toBeUndefined()
    await failTimes(9)
    expect(await call()).toBeUndefined()
    expect(calls()).toBe(21)
  })

  test('takes refusals for answers, and what the caller ended for nothing at all', async () => {
    const { clock, call, failTimes, calls } = openHarness()
    await failTimes(9)
    await call(refused('too small'))
    await failTimes(9)
    await call(new Error('the caller went away'))
    await failTimes(1)
    expect(calls()).toBe(21)
    await call()
    expect(calls()).toBe(21)
    clock.time = 1000
    await call(new Error('the caller went away'))
    await call(refused('too small'))
    await call()
    expect(calls()).toBe(24)
  })

  test('stays open for five minutes at most', async () => {
    const { clock, call, failTimes, calls } = openHarness()
    await failTimes(10)
    for (let turn = 0; turn < 20; turn += 1) {
      clock.time += 300_000
      const before = calls()
      await call(unusable('broken'))
      expect(calls()).toBe(before + 1)
    }
  })
})
