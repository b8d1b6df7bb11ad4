import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { DAY_MS } from '@lade/core/time'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { endOfUtcDay, secondsToNextDay, utcDay, utcDayBefore } from './utc-day.ts'

const instant = fc.integer({ min: 0, max: Date.UTC(2200, 0, 1) })

describe('utcDay', () => {
  it.each([
    [0, '1970-01-01'],
    [Date.UTC(2026, 10, 21, 23, 59, 59, 999), '2026-11-21'],
    [Date.UTC(2026, 10, 22), '2026-11-22'],
    [Date.UTC(2028, 1, 29, 12), '2028-02-29'],
  ])('puts %i on %s', (now, day) => expect(utcDay(now)).toBe(day))
})

describe('endOfUtcDay', () => {
  it('is the first instant that has another day', () => {
    fc.assert(
      fc.property(instant, (now) => {
        const end = endOfUtcDay(now)
        expect(end).toBeGreaterThan(now)
        expect(utcDay(end - 1)).toBe(utcDay(now))
        expect(utcDay(end)).not.toBe(utcDay(now))
      }),
    )
  })

  it('is a whole day away at midnight', () => {
    expect(endOfUtcDay(Date.UTC(2026, 10, 21))).toBe(Date.UTC(2026, 10, 22))
  })
})

describe('utcDayBefore', () => {
  it('counts calendar days back', () => {
    expect(utcDayBefore(Date.UTC(2028, 2, 1), 1)).toBe('2028-02-29')
    expect(utcDayBefore(Date.UTC(2026, 0, 3, 4), 6)).toBe('2025-12-28')
    expect(utcDayBefore(Date.UTC(2026, 0, 3, 4), 0)).toBe('2026-01-03')
  })
})

describe('secondsToNextDay', () => {
  it('is at least one second and reaches the next day, by less than a second too far', () => {
    fc.assert(
      fc.property(instant, (now) => {
        const seconds = secondsToNextDay(now)
        expect(Number.isInteger(seconds) && seconds >= 1 && seconds <= 86_400).toBe(true)
        expect(utcDay(now + seconds * 1000)).toBe(utcDay(now + DAY_MS))
        expect(now + seconds * 1000 - endOfUtcDay(now)).toBeLessThan(1000)
      }),
    )
  })
})

describe('the UTC day under every time zone of the host', () => {
  const script = `
    import { endOfUtcDay, secondsToNextDay, utcDay, utcDayBefore } from ${JSON.stringify(fileURLToPath(new URL('./utc-day.ts', import.meta.url)))}
    const instants = [0, Date.UTC(2026, 10, 21, 23, 59, 58), Date.UTC(2026, 2, 29, 1, 30), Date.UTC(2026, 8, 27, 14), Date.UTC(2026, 10, 1, 9)]
    const zone = new Date(instants[1]).getTimezoneOffset()
    console.log(JSON.stringify({ zone, days: instants.map((now) => [utcDay(now), endOfUtcDay(now), utcDayBefore(now, 6), secondsToNextDay(now)]) }))
  `
  const expected = [
    ['1970-01-01', DAY_MS, '1969-12-26', 86_400],
    ['2026-11-21', Date.UTC(2026, 10, 22), '2026-11-15', 2],
    ['2026-03-29', Date.UTC(2026, 2, 30), '2026-03-23', 81_000],
    ['2026-09-27', Date.UTC(2026, 8, 28), '2026-09-21', 36_000],
    ['2026-11-01', Date.UTC(2026, 10, 2), '2026-10-26', 54_000],
  ]

  it.each([
    ['Pacific/Auckland', -780],
    ['America/Los_Angeles', 480],
    ['Asia/Kolkata', -330],
    ['UTC', 0],
  ])('is the same with TZ=%s', (zone, offsetMinutes) => {
    const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
      env: { ...process.env, TZ: zone },
      encoding: 'utf8',
    })
    expect(JSON.parse(printed)).toEqual({ zone: offsetMinutes, days: expected })
  })
})
