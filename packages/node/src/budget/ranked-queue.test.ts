import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RankedQueue } from './ranked-queue.ts'

const taken = (queue: RankedQueue<string>): (string | undefined)[] =>
  Array.from({ length: queue.size }, () => queue.take()?.item)

describe('a ranked queue', () => {
  test('takes the items of principals with the same rank in turn', () => {
    const queue = new RankedQueue<string>(() => 0)
    for (const item of ['a 1', 'a 2', 'a 3']) queue.push('a', item)
    for (const item of ['b 1', 'b 2']) queue.push('b', item)
    expect(taken(queue)).toEqual(['a 1', 'b 1', 'a 2', 'b 2', 'a 3'])
    expect(queue.take()).toBeUndefined()
  })

  test('leaves those that may not have their turn', () => {
    const queue = new RankedQueue<string>(() => 0)
    queue.push('a', 'a 1')
    expect(queue.take((principal) => principal !== 'a')).toBeUndefined()
    queue.push('b', 'b 1')
    expect(queue.take((principal) => principal !== 'a')).toEqual({ principal: 'b', item: 'b 1' })
    expect(queue.size).toBe(1)
  })

  test('removes what waits no longer', () => {
    const queue = new RankedQueue<string>(() => 0)
    for (const item of ['a 1', 'a 2']) queue.push('a', item)
    queue.remove('a', 'a 1')
    queue.remove('a', 'a 1')
    queue.remove('b', 'a 2')
    expect([queue.size, queue.countOf('a'), queue.countOf('b')]).toEqual([1, 1, 0])
    expect(taken(queue)).toEqual(['a 2'])
  })

  test('always takes from a principal with the lowest rank, while ranks grow', () => {
    const step = fc.record({ principal: fc.constantFrom('a', 'b', 'c'), grows: fc.nat(3), isTaken: fc.boolean() })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const ranks = new Map<string, number>()
        const rankOf = (principal: string): number => ranks.get(principal) ?? Number.NEGATIVE_INFINITY
        const queue = new RankedQueue<number>(rankOf)
        const waiting = new Map<string, number[]>([...'abc'].map((principal) => [principal, []]))
        steps.forEach(({ principal, grows, isTaken }, index) => {
          queue.push(principal, index)
          waiting.get(principal)?.push(index)
          if (grows > 0) ranks.set(principal, (ranks.get(principal) ?? 0) + grows)
          if (!isTaken) return
          const ready = [...waiting].filter(([, items]) => items.length > 0).map(([name]) => rankOf(name))
          const { principal: from = '', item } = queue.take() ?? {}
          expect(rankOf(from)).toBe(Math.min(...ready))
          expect(item).toBe(waiting.get(from)?.shift())
        })
      }),
    )
  })
})
