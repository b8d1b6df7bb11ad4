import { type ErrorCode, type ErrorEvidence, LadeError } from '@lade/core/errors'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Contact, DEFAULT_RETRY, isWorthRetrying, parseRetryAfter, retryPolicy, Waits, wait } from './retry.ts'

const failure = <Code extends ErrorCode>(status: number | undefined, code: Code, evidence: ErrorEvidence[Code]) => ({
  error: new LadeError(code, evidence),
  status,
  retryAfterMs: undefined,
})
const quota = { used: 1, limit: 1, retryAfterSeconds: 9 }

describe('isWorthRetrying', () => {
  it.each([408, 425, 429, 500, 502, 503, 504])('is true for %i', (status) => {
    expect(isWorthRetrying(failure(status, 'unexpected_answer', { httpStatus: status, reason: '' }), true)).toBe(true)
  })

  it.each([400, 401, 403, 404, 405, 406, 409, 410, 411, 413, 416, 422, 501, 505, 507])('is false for %i', (status) => {
    expect(isWorthRetrying(failure(status, 'unexpected_answer', { httpStatus: status, reason: '' }), true)).toBe(false)
  })

  it('is true for a connection that failed, and false for an answer that makes no sense', () => {
    expect(isWorthRetrying(failure(undefined, 'unreachable', { url: 'http://a', reason: '' }), true)).toBe(true)
    expect(isWorthRetrying(failure(undefined, 'unexpected_answer', { httpStatus: 200, reason: '' }), true)).toBe(false)
  })

  it('is false for a quota, which is there again tomorrow, and a prover that refused', () => {
    expect(isWorthRetrying(failure(429, 'quota_exceeded', quota), true)).toBe(false)
    expect(isWorthRetrying(failure(429, 'rate_limited', quota), true)).toBe(true)
    expect(isWorthRetrying(failure(502, 'stage_failed', { reason: 'no' }), true)).toBe(false)
    expect(isWorthRetrying(failure(502, 'stage_failed', { reason: 'no', retryAfterSeconds: 3 }), true)).toBe(true)
  })

  it('is false for a mail that could not be sent, since somebody waits for it', () => {
    expect(isWorthRetrying(failure(503, 'mail_failed', { retryAfterSeconds: 1 }), false)).toBe(false)
    expect(isWorthRetrying(failure(503, 'mail_failed', { retryAfterSeconds: 1 }), true)).toBe(false)
  })

  it('is true for what must not be done twice only when it was refused', () => {
    const statuses = [undefined, 408, 425, 429, 500, 502, 503, 504]
    const worth = statuses.filter((status) =>
      isWorthRetrying(failure(status, 'unreachable', { url: 'http://a', reason: '' }), false),
    )
    expect(worth).toEqual([429, 503])
  })
})

describe('Waits', () => {
  it('doubles from the first wait to the longest, each at least half of it and never more', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (chance) => {
        const policy = retryPolicy({ attempts: 8, budgetSeconds: 1e6, baseDelayMs: 100, maxDelayMs: 1000 })
        const waits = new Waits(policy, { random: () => chance })
        for (const ceilingMs of [100, 200, 400, 800, 1000, 1000, 1000]) {
          const delayMs = waits.next(undefined)
          expect(delayMs).toBeGreaterThanOrEqual(ceilingMs / 2)
          expect(delayMs).toBeLessThanOrEqual(ceilingMs)
        }
        expect(waits.next(undefined)).toBeUndefined()
      }),
    )
  })

  it('waits as long as it is asked to, within the budget', () => {
    const waits = new Waits(retryPolicy({ attempts: 9, budgetSeconds: 10 }))
    expect(waits.next(6000)).toBe(6000)
    expect(waits.next(4001)).toBeUndefined()
    expect(waits.next(4000)).toBe(4000)
    expect(waits.next(0)).toBe(0)
    expect(waits.next(1)).toBeUndefined()
  })

  it('has all of it again after something was achieved', () => {
    const waits = new Waits(retryPolicy({ attempts: 2, budgetSeconds: 1 }))
    expect(waits.next(1000)).toBe(1000)
    expect(waits.next(0)).toBeUndefined()
    waits.renew()
    expect(waits.next(1000)).toBe(1000)
  })

  it('has attempts of its own until the service has answered', () => {
    const contact = new Contact()
    const waits = new Waits(retryPolicy({ attempts: 3, firstContactAttempts: 2 }), { contact })
    const left = (): number => {
      waits.renew()
      let attempts = 1
      while (waits.next(0) !== undefined) attempts += 1
      return attempts
    }
    for (const status of [502, 503, 504]) contact.note(status)
    expect(left()).toBe(2)
    contact.note(404)
    expect(left()).toBe(3)
    contact.note(503)
    expect(left()).toBe(3)
  })
})

describe('retryPolicy', () => {
  it('has defaults for what is not said', () => {
    expect(retryPolicy({ attempts: 1 })).toEqual({ ...DEFAULT_RETRY, attempts: 1, firstContactAttempts: 1 })
    expect(retryPolicy({ firstContactAttempts: 2 })).toEqual({ ...DEFAULT_RETRY, firstContactAttempts: 2 })
  })

  it.each([
    { attempts: 0 },
    { attempts: 1.5 },
    { firstContactAttempts: 0 },
    { budgetSeconds: -1 },
    { baseDelayMs: Number.NaN },
  ])('refuses %j', (changes) => {
    expect(() => retryPolicy(changes)).toThrow(TypeError)
  })
})

describe('parseRetryAfter', () => {
  it.each([
    [null, undefined],
    ['0', 0],
    [' 7 ', 7000],
    ['Thu, 01 Jan 1970 00:01:00 GMT', 50_000],
    ['Thu, 01 Jan 1970 00:00:01 GMT', 0],
    ['soon', undefined],
    ['-1', undefined],
  ])('reads %j as %j ms', (header, expected) => {
    expect(parseRetryAfter(header, 10_000)).toBe(expected)
  })
})

describe('wait', () => {
  it('ends by the reason of the signal, also when that is aborted already', async () => {
    const controller = new AbortController()
    const waiting = wait(60_000, controller.signal)
    controller.abort(new RangeError('enough'))
    await expect(waiting).rejects.toThrow(new RangeError('enough'))
    await expect(wait(0, controller.signal)).rejects.toThrow(new RangeError('enough'))
  })
})
