import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { RefusalLog } from './refusal-log.ts'

const TEXT = 'refused requests omitted from the log'

describe('the log of refusals', () => {
  const clock = { now: 0 }
  let lines: unknown[][]
  let refusals: RefusalLog
  beforeEach(() => {
    vi.useFakeTimers()
    clock.now = 0
    lines = []
    const log = {
      warn: (...line: unknown[]) => void lines.push(['warn', ...line]),
      error: (...line: unknown[]) => void lines.push(['error', ...line]),
    }
    refusals = new RefusalLog({ log, now: () => clock.now })
  })
  afterEach(() => void vi.useRealTimers())

  /** How many of so many refusals are logged. */
  const logged = (count: number, principal = 'ip:192.0.2.1', status = 404) =>
    Array.from({ length: count }, () => refusals.isLogged(principal, status)).filter(Boolean).length

  it('leaves nothing out below 100 a second', () => {
    for (let second = 0; second < 120; second += 1) {
      clock.now = second * 1000
      vi.advanceTimersByTime(1000)
      expect(logged(100)).toBe(100)
    }
    refusals.close()
    expect(lines).toEqual([])
  })

  it('sums up the minute of an address above it, by status, and nobody else', () => {
    expect(logged(300)).toBe(100)
    clock.now = 5000
    expect(logged(50, 'ip:192.0.2.1', 401)).toBe(0)
    expect(refusals.isFlooding('ip:192.0.2.1')).toBe(true)
    expect(logged(50, 'ip:192.0.2.2')).toBe(50)
    expect(refusals.isFlooding('ip:192.0.2.2')).toBe(false)
    vi.advanceTimersByTime(59_999)
    expect(lines).toEqual([])
    vi.advanceTimersByTime(1)
    const summary = { principal: 'ip:192.0.2.1', leftOut: 250, byStatus: { 404: 200, 401: 50 } }
    expect(lines).toEqual([['warn', summary, TEXT]])
    clock.now = 60_000
    expect(refusals.isFlooding('ip:192.0.2.1')).toBe(false)
    expect(logged(1)).toBe(1)
    refusals.close()
    expect(lines).toHaveLength(1)
  })

  it('leaves 5xx out for an address that floods, and says so as an error', () => {
    expect(logged(100, 'ip:192.0.2.2')).toBe(100)
    expect(logged(101)).toBe(100)
    expect(logged(1, 'ip:192.0.2.1', 503)).toBe(0)
    refusals.close()
    const summary = { principal: 'ip:192.0.2.1', leftOut: 2, byStatus: { 404: 1, 503: 1 } }
    expect(lines).toEqual([['error', summary, TEXT]])
  })

  it('has at most 300 lines a second for many addresses, 5xx aside, and sums up the rest together', () => {
    const each = Array.from({ length: 3000 }, (_, index) => logged(1, `ip:10.0.${index >> 8}.${index & 255}`))
    expect(each.filter((count) => count === 1)).toHaveLength(300)
    expect(logged(1, 'ip:192.0.2.9', 503)).toBe(1)
    clock.now = 1000
    expect(logged(1, 'ip:192.0.2.9')).toBe(1)
    refusals.close()
    expect(lines).toEqual([['warn', { principal: 'others', leftOut: 2700, byStatus: { 404: 2700 } }, TEXT]])
  })

  it('names 100 addresses a minute', () => {
    for (let index = 0; index < 150; index += 1) {
      clock.now += 1000
      logged(101, `ip:192.0.2.${index}`)
    }
    refusals.close()
    expect(lines).toHaveLength(101)
    const summary = { principal: 'others', leftOut: 50, byStatus: { 404: 50 } }
    expect(lines.at(-1)).toEqual(['warn', summary, TEXT])
  })
})
