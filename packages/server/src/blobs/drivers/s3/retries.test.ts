import { describe, expect, test } from 'vitest'
import { DEFAULT_RETRY_RULES, Retries } from './retries.ts'
import { S3Failure } from './s3-failure.ts'

const never = new AbortController().signal

function transient(retryAfterMs?: number): S3Failure {
  return new S3Failure('PutObject', { kind: 'transient', code: 'SlowDown', status: 503, retryAfterMs })
}

/** An attempt that fails so often, and how often it was made. */
function failing(times: number, failure: unknown = transient()) {
  const made = { count: 0 }
  return {
    made,
    attempt: async () => {
      made.count += 1
      if (made.count <= times) throw failure
      return 'done'
    },
  }
}

const QUICK = { ...DEFAULT_RETRY_RULES, firstWaitMs: 1, longestWaitMs: 1 }

describe('Retries', () => {
  test('tries a passing failure again, up to its number of tries', async () => {
    const late = failing(4)
    await expect(new Retries(QUICK).run(never, late.attempt)).resolves.toBe('done')
    const hopeless = failing(9)
    await expect(new Retries(QUICK).run(never, hopeless.attempt)).rejects.toThrow('SlowDown')
    expect([late.made.count, hopeless.made.count]).toEqual([5, 5])
  })

  test('tells of each try but the first', async () => {
    let retried = 0
    const onRetry = (): void => {
      retried += 1
    }
    await new Retries(QUICK, Math.random, onRetry).run(never, failing(0).attempt)
    expect(retried).toBe(0)
    await new Retries(QUICK, Math.random, onRetry).run(never, failing(3).attempt)
    expect(retried).toBe(3)
  })

  test('tries nothing else again', async () => {
    for (const failure of [new S3Failure('x', { kind: 'permanent', code: 'AccessDenied' }), new TypeError('mine')]) {
      const { attempt, made } = failing(1, failure)
      await expect(new Retries(QUICK).run(never, attempt)).rejects.toBe(failure)
      expect(made.count).toBe(1)
    }
  })

  test('waits at random up to a time that doubles, and has an end', () => {
    const retries = new Retries(DEFAULT_RETRY_RULES, () => 1)
    const waits = [1, 2, 3, 4, 5].map((tries) => retries.waitBefore(tries, transient(), 0))
    expect(waits).toEqual([100, 200, 400, 800, undefined])
    expect(new Retries({ ...DEFAULT_RETRY_RULES, longestWaitMs: 300 }, () => 1).waitBefore(4, transient(), 0)).toBe(300)
    expect(new Retries(DEFAULT_RETRY_RULES, () => 0.25).waitBefore(1, transient(), 0)).toBe(25)
  })

  test('waits as long as the store asks, unless that is past the end', () => {
    const retries = new Retries(DEFAULT_RETRY_RULES, () => 0)
    expect(retries.waitBefore(1, transient(7_000), 0)).toBe(7_000)
    expect(retries.waitBefore(1, transient(7_000), 13_000)).toBe(7_000)
    expect(retries.waitBefore(1, transient(7_000), 13_001)).toBeUndefined()
  })

  test('asks a store that is down hardly more often than it is called', async () => {
    const retries = new Retries({ ...QUICK, reserve: 20 })
    let attempts = 0
    for (let call = 0; call < 200; call++) {
      const failed = retries.run(never, async () => {
        attempts += 1
        throw transient()
      })
      await expect(failed).rejects.toThrow('SlowDown')
    }
    expect(attempts).toBe(220)
  })

  test('has retries again after successes', async () => {
    const retries = new Retries({ ...QUICK, reserve: 1 })
    await expect(retries.run(never, failing(1).attempt)).resolves.toBe('done')
    await expect(retries.run(never, failing(1).attempt)).rejects.toThrow('SlowDown')
    for (let call = 0; call < 10; call++) await retries.run(never, failing(0).attempt)
    await expect(retries.run(never, failing(1).attempt)).resolves.toBe('done')
  })

  test('gives up its wait when it is aborted', async () => {
    const controller = new AbortController()
    const running = new Retries({ ...DEFAULT_RETRY_RULES, firstWaitMs: 60_000, totalMs: 120_000 }, () => 1).run(
      controller.signal,
      failing(1).attempt,
    )
    setTimeout(() => controller.abort(), 5)
    await expect(running).rejects.toThrow('SlowDown')
  })
})
