import { describe, expect, test } from 'vitest'
import { WorkBudget } from './work-budget.ts'

const MIB = 1024 * 1024

/** The /48 of a principal that is a /64. */
const networkOf = (principal: string): string | undefined =>
  principal.endsWith('::/64') ? `${principal.split(':').slice(0, 4).join(':')}::/48` : undefined

function budgetAt(start = 0) {
  const clock = { now: start }
  const lines: object[] = []
  const log = { warn: (line: object) => void lines.push(line) }
  const budget = new WorkBudget({ now: () => clock.now, log, networkOf })
  return { budget, clock, lines }
}

describe('a work budget', () => {
  test('refuses whoever has used up its unpaid time, says for how long, and nobody else', () => {
    const { budget, clock } = budgetAt()
    budget.spend({ principal: 'ip:192.0.2.1', work: 'compose', processorMs: 10_000 })
    expect(() => budget.require('ip:192.0.2.1', 'links')).toThrow(
      expect.objectContaining({
        code: 'over_budget',
        evidence: { work: 'links', unit: 'milliseconds', used: 10_000, limit: 5000, retryAfterSeconds: 60 },
      }),
    )
    budget.require('ip:192.0.2.2', 'links')
    clock.now = 60_000
    budget.require('ip:192.0.2.1', 'links')
  })

  test('ranks who uploads a lot before who was refused once, at any time', () => {
    const { budget, clock } = budgetAt()
    budget.spend({ principal: 'user:a', work: 'hash', processorMs: 2000, movedBytes: 1024 * MIB })
    budget.spend({ principal: 'ip:192.0.2.1', work: 'hash', processorMs: 60 })
    const ranks = ['ip:192.0.2.2', 'user:a', 'ip:192.0.2.1'].map((principal) => budget.rank(principal))
    expect(ranks).toEqual([...ranks].sort((one, other) => one - other))
    clock.now = 3_600_000
    expect(budget.rank('user:a')).toBe(ranks[1])
    // What was used an hour ago hardly counts beside what is used now.
    budget.spend({ principal: 'ip:192.0.2.2', work: 'hash', processorMs: 1, movedBytes: MIB })
    expect(budget.rank('ip:192.0.2.2')).toBeGreaterThan(budget.rank('ip:192.0.2.1'))
  })

  test('puts who was refused behind others, and refuses nobody for that alone', () => {
    const { budget } = budgetAt()
    budget.spend({ principal: 'user:a', work: 'hash', processorMs: 2000, movedBytes: 1024 * MIB })
    for (let times = 0; times < 100_000; times += 1) budget.spendRefused('ip:192.0.2.1')
    expect(budget.unpaidRank('ip:192.0.2.1')).toBeGreaterThan(budget.unpaidRank('user:a'))
    budget.require('ip:192.0.2.1', 'hash')
    expect(budget.counters().spent.get('request')?.unpaidMs).toBeCloseTo(500)
    // Neither while all others together are over their limit.
    for (let user = 0; user < 10; user += 1)
      budget.spend({ principal: `user:${user}`, work: 'hash', processorMs: 4000 })
    budget.require('ip:192.0.2.1', 'hash')
  })

  test('ranks by unpaid time alone, of which little is none', () => {
    const { budget, clock } = budgetAt()
    budget.spend({ principal: 'user:a', work: 'hash', processorMs: 9 })
    expect(budget.unpaidRank('user:a')).toBe(budget.unpaidRank('user:b'))
    budget.spend({ principal: 'user:a', work: 'hash', processorMs: 2 })
    expect(budget.unpaidRank('user:a')).toBeGreaterThan(budget.unpaidRank('user:b'))
    clock.now += 60_000
    expect(budget.unpaidRank('user:a')).toBe(budget.unpaidRank('user:b'))
  })

  test('puts nobody behind others whose uploads take a little longer than their bytes pay for', () => {
    const { budget } = budgetAt()
    for (let times = 0; times < 150; times += 1)
      budget.spend({ principal: 'user:a', work: 'hash', processorMs: 42, movedBytes: 4 * MIB })
    expect(budget.unpaidRank('user:a')).toBe(budget.unpaidRank('user:b'))
    budget.takeBack({ principal: 'user:a', work: 'hash', paidMs: 500 })
    expect(budget.unpaidRank('user:a')).toBeGreaterThan(budget.unpaidRank('user:b'))
  })

  test('adds used and unpaid time in a rank', () => {
    const { budget } = budgetAt()
    budget.spend({ principal: 'user:a', work: 'hash', processorMs: 64 })
    // 64 ms used, and 50 times 64 ms unpaid.
    expect(budget.rank('user:a')).toBeCloseTo(Math.log2(64 + 50 * 64))
  })

  test('lets bytes pay for the time that they take', () => {
    const { budget } = budgetAt()
    budget.spend({ principal: 'user:a', work: 'hash', processorMs: 20_000, movedBytes: 2048 * MIB })
    budget.require('user:a', 'hash')
    expect(budget.usedMs('user:a')).toBe(20_000)
    budget.spend({ principal: 'user:a', work: 'hash', processorMs: 20_000 })
    expect(() => budget.require('user:a', 'hash')).toThrow(expect.objectContaining({ code: 'over_budget' }))
  })

  test('never makes anybody wait longer than two minutes', () => {
    const { budget, clock } = budgetAt()
    for (let round = 0; round < 100; round += 1) {
      budget.spend({ principal: 'user:a', work: 'hash', processorMs: 100_000 })
    }
    expect(() => budget.require('user:a', 'hash')).toThrow(
      expect.objectContaining({ evidence: expect.objectContaining({ used: 20_000, retryAfterSeconds: 120 }) }),
    )
    clock.now = 15 * 60_000
    budget.require('user:a', 'hash')
  })

  test('gives each a tenth while all together have used up the whole', () => {
    const { budget } = budgetAt()
    for (let host = 0; host < 40; host += 1) {
      budget.spend({ principal: `ip:192.0.2.${host}`, work: 'links', processorMs: 1000 })
    }
    expect(() => budget.require('ip:192.0.2.1', 'links')).toThrow(
      expect.objectContaining({ evidence: expect.objectContaining({ used: 1000, limit: 500 }) }),
    )
    budget.require('ip:192.0.2.99', 'links')
  })

  test('refuses no /64 because refused requests came from all over its /48', () => {
    const { budget } = budgetAt()
    for (let subnet = 1; subnet <= 70; subnet += 1) {
      for (let times = 0; times < 1000; times += 1) budget.spendRefused(`ip:2001:db8:1:${subnet}::/64`)
    }
    for (let user = 0; user < 10; user += 1)
      budget.spend({ principal: `user:${user}`, work: 'hash', processorMs: 4000 })
    budget.require('ip:2001:db8:1:1::/64', 'hash')
  })

  test('counts the /64s of one /48 together, as sixteen of them', () => {
    const { budget } = budgetAt()
    for (let subnet = 0; subnet < 28; subnet += 1) {
      budget.spend({ principal: `ip:2001:db8:1:${subnet.toString(16)}::/64`, work: 'links', processorMs: 1000 })
    }
    budget.require('ip:2001:db8:1:ffff::/64', 'links')
    for (let subnet = 0; subnet < 28; subnet += 1) {
      budget.spend({ principal: `ip:2001:db8:1:${subnet.toString(16)}::/64`, work: 'links', processorMs: 2000 })
    }
    expect(() => budget.require('ip:2001:db8:1:ffff::/64', 'links')).toThrow(
      expect.objectContaining({ code: 'over_budget' }),
    )
    budget.require('ip:2001:db8:2:ffff::/64', 'links')
  })

  test('counts and logs who was held back: once, and then once a minute', () => {
    const { budget, clock, lines } = budgetAt()
    const event = { principal: 'ip:192.0.2.1', work: 'read', how: 'closed' } as const
    for (let time = 0; time < 1000; time += 1) budget.heldBack(event)
    clock.now = 61_000
    budget.heldBack(event)
    expect(lines).toEqual([
      { ...event, count: 1 },
      { ...event, count: 999 },
      { ...event, count: 1 },
    ])
    expect(budget.counters().heldBack).toEqual([{ work: 'read', how: 'closed', count: 1001 }])
  })
})
