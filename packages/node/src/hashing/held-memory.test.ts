import { describe, expect, test } from 'vitest'
import { HeldMemory } from './held-memory.ts'

function holderOf(principal: string, ended: string[], name = principal) {
  return { principal, end: ({ code }: { code: string }) => void ended.push(`${name} ${code}`) }
}

describe('held memory', () => {
  test('ends the largest body of whoever holds the most, and nobody while there is room', () => {
    const ended: string[] = []
    const memory = new HeldMemory(100)
    const [many, more, one] = [holderOf('a', ended, 'a 1'), holderOf('a', ended, 'a 2'), holderOf('b', ended)] as const
    memory.set(many, 20)
    memory.set(more, 40)
    memory.set(one, 40)
    expect(ended).toEqual([])
    memory.set(one, 50)
    expect(ended).toEqual(['a 2 over_budget'])
    memory.set(one, 80)
    expect(ended).toHaveLength(1)
    memory.set(one, 81)
    expect(ended).toEqual(['a 2 over_budget', 'b over_budget'])
  })

  test('forgets bodies that are over', () => {
    const ended: string[] = []
    const memory = new HeldMemory(100)
    const [one, other] = [holderOf('a', ended), holderOf('b', ended)]
    memory.set(one, 90)
    memory.set(one, 0)
    memory.set(other, 90)
    expect(ended).toEqual([])
  })
})
