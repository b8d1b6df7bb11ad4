import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Deal } from './deal.ts'
import { DealWatch } from './deal-watch.ts'

const deal = (dealId: bigint) => ({ dealId }) as Deal

describe('DealWatch', () => {
  test('asks for every deal until somebody puts it off, and for those that ask nothing once more', () => {
    const watch = new DealWatch(1n)
    expect(watch.due(2n, 1000)).toEqual([1n, 2n])
    expect(watch.due(3n, 1000)).toEqual([1n, 2n, 3n])
    watch.readAgain(deal(1n), 1050, 1000)
    watch.readAgain(deal(2n), 90_000, 1000)
    watch.isIdle(deal(3n), 1000)
    expect(watch.due(3n, 1049)).toEqual([])
    expect(watch.due(3n, 1050)).toEqual([1n])
    expect(watch.due(3n, 1180)).toEqual([1n, 2n])
    expect(watch.due(3n, 4600)).toEqual([1n, 2n, 3n])
    for (const id of [1n, 2n, 3n]) watch.isIdle(deal(id), 4600)
    expect(watch.firstDealId).toBe(1n)
    for (const id of watch.due(3n, 8200)) watch.isIdle(deal(id), 8200)
    expect(watch.firstDealId).toBe(4n)
    expect(watch.due(3n, 100_000)).toEqual([])
  })

  test('asks for no further deals while a chain that fails leaves a thousand unread', () => {
    const watch = new DealWatch(1n)
    const due = watch.due(100_000n, 1000)
    expect(due).toHaveLength(1000)
    for (let failed = 1; failed <= 50; failed += 1) expect(watch.due(100_000n, 1000 + failed)).toEqual(due)
    // Some were read before the chain failed again; one of them has something to be done.
    for (const id of due.slice(0, 400)) watch.isIdle(deal(id), 1100, 1000)
    watch.isRead(deal(401n))
    const next = watch.due(100_000n, 1100)
    expect(next).toHaveLength(600 + 401)
    expect(next).toContain(401n)
    expect(next).toContain(1401n)
    expect(next).not.toContain(1402n)
    expect(watch.due(100_000n, 1100)).toEqual(next)
  })

  test('is complete once every deal was read', () => {
    const watch = new DealWatch(5n)
    expect(watch.isComplete).toBe(false)
    watch.due(4n, 1000)
    expect(watch.isComplete).toBe(true)
    watch.due(6n, 1000)
    watch.isRead(deal(5n))
    expect(watch.isComplete).toBe(false)
    watch.isIdle(deal(6n), 1000)
    expect(watch.isComplete).toBe(true)
    watch.due(5000n, 1000)
    for (const dealId of watch.due(5000n, 1000)) watch.isRead(deal(dealId))
    // A thousand at a time.
    expect(watch.isComplete).toBe(false)
  })

  test('reads what only somebody else can change once an hour', () => {
    const watch = new DealWatch(1n)
    watch.due(1n, 1000)
    watch.readRarely(deal(1n), 90_000, 1000)
    expect(watch.due(1n, 4599)).toEqual([])
    expect(watch.due(1n, 4600)).toEqual([1n])
    watch.readRarely(deal(1n), 5000, 4600)
    expect(watch.due(1n, 5000)).toEqual([1n])
    expect(watch.firstDealId).toBe(1n)
  })

  test('forgets at once what has asked nothing for long', () => {
    const watch = new DealWatch(7n)
    expect(watch.due(7n, 10_000)).toEqual([7n])
    watch.isIdle(deal(7n), 10_000, 5000)
    expect(watch.firstDealId).toBe(8n)
  })

  test('reads an id again that a reorganisation took away and gave to another deal', () => {
    const watch = new DealWatch(1n)
    for (const id of watch.due(5n, 1000)) watch.isIdle(deal(id), 1000)
    expect(watch.due(3n, 1010)).toEqual([])
    expect(watch.due(5n, 1020)).toEqual([4n, 5n])
  })

  test('never passes over a deal that is not idle for good, whatever happens', () => {
    const step = fc.record({
      grows: fc.bigInt({ min: -3n, max: 5n }),
      seconds: fc.nat({ max: 2000 }),
      idle: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
      isHeard: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const watch = new DealWatch(1n)
        const isLive = new Set<bigint>()
        let last = 0n
        let time = 10_000
        for (const { grows, seconds, idle, isHeard } of steps) {
          last = last + grows < 0n ? 0n : last + grows
          time += seconds
          for (const id of isLive) if (id > last) isLive.delete(id)
          const due = watch.due(last, time)
          // As when the chain stops answering in between.
          if (!isHeard) continue
          for (const id of due) {
            if (idle[Number(id % 5n)]) {
              isLive.delete(id)
              watch.isIdle(deal(id), time)
            } else {
              isLive.add(id)
              watch.readAgain(deal(id), time + 5000, time)
            }
          }
          for (const id of isLive) {
            expect(watch.firstDealId).toBeLessThanOrEqual(id)
            expect(watch.due(last, time + 180)).toContain(id)
          }
        }
      }),
    )
  })
})
