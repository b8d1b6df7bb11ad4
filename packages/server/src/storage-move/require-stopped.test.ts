import { describe, expect, test } from 'vitest'
import { requireStopped } from './require-stopped.ts'

/** Instances by how many looks they still seem to live for. */
function look(instances: Record<string, number>, timeoutMs = 0): Promise<void> {
  const left = new Map(Object.entries(instances))
  return requireStopped({
    instances: { list: async () => [...left.keys()] },
    locks: {
      async isHeld(id) {
        const looks = left.get(id) ?? 0
        left.set(id, looks - 1)
        return looks > 0
      },
    },
    place: 'data/lade.db',
    timeoutMs,
    wait: async () => {},
  })
}

describe('requireStopped', () => {
  test('takes dead instances for dead', async () => {
    await look({})
    await look({ a: 0, b: 0 })
  })

  test('refuses as soon as one lives', async () => {
    await expect(look({ a: 0, b: 1 })).rejects.toThrow('An instance runs on data/lade.db. Stop every instance first.')
    await expect(look({ a: 1, b: 1 })).rejects.toThrow('2 instances run on')
  })

  test('waits for a lock that outlives its instance for a while, and no longer', async () => {
    await look({ a: 20 }, 10_000)
    await expect(look({ a: 22 }, 10_000)).rejects.toThrow('Stop every instance')
  })

  test('asks no more about one that has ended, while it waits for another', async () => {
    const asked: string[] = []
    await requireStopped({
      instances: { list: async () => ['a', 'b'] },
      locks: {
        async isHeld(id) {
          asked.push(id)
          return id === 'b' && asked.length < 4
        },
      },
      place: 'data/lade.db',
      timeoutMs: 10_000,
      wait: async () => {},
    })
    expect(asked).toEqual(['a', 'b', 'b', 'b'])
  })
})
