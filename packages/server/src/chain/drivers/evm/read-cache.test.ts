import { describe, expect, it } from 'vitest'
import { ReadCache } from './read-cache.ts'

function openCache({ maxEntries = 10, maxAgeMs = 1_000 } = {}) {
  const clock = { now: 0 }
  const reads: string[] = []
  const failing = new Set<string>()
  const cache = new ReadCache({
    read: async (key) => {
      const count = reads.push(key)
      await Promise.resolve()
      if (failing.has(key)) throw new Error(key)
      return `${key}${count}`
    },
    maxAgeMs,
    maxEntries,
    now: () => clock.now,
  })
  return { cache, clock, reads, failing }
}

describe('ReadCache', () => {
  it('reads once for questions side by side, and again when the answer is old', async () => {
    const { cache, clock, reads } = openCache()
    expect(await Promise.all([cache.get('a'), cache.get('a'), cache.get('b')])).toEqual(['a1', 'a1', 'b2'])
    clock.now = 999
    expect(await cache.get('a')).toBe('a1')
    clock.now = 1_000
    expect(await cache.get('a')).toBe('a3')
    expect(reads).toEqual(['a', 'b', 'a'])
  })

  it('keeps nothing that failed, and fails everybody who asked', async () => {
    const { cache, failing, reads } = openCache()
    failing.add('a')
    const answers = await Promise.allSettled([cache.get('a'), cache.get('a')])
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    failing.clear()
    expect(await cache.get('a')).toBe('a2')
    expect(reads).toEqual(['a', 'a'])
  })

  it('forgets the one that was not asked for longest', async () => {
    const { cache, reads } = openCache({ maxEntries: 2 })
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await cache.get(key)
    expect(reads).toEqual(['a', 'b', 'c', 'b'])
    expect(cache.size).toBe(2)
  })

  it('keeps nothing with an age of 0', async () => {
    const { cache, reads } = openCache({ maxAgeMs: 0 })
    await cache.get('a')
    await cache.get('a')
    expect(reads).toEqual(['a', 'a'])
  })
})
