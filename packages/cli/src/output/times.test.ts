import { describe, expect, it } from 'vitest'
import { formatBriefly, formatClock, formatFromNow, formatSeconds, formatTime } from './times.ts'

const NOW = new Date('2026-11-21T10:00:00Z')

describe('formatSeconds', () => {
  it.each([
    [1, '1 second'],
    [119, '119 seconds'],
    [120, '2 minutes'],
    [7199, '120 minutes'],
    [7200, '2 hours'],
    [47.9 * 3600, '48 hours'],
    [48 * 3600, '2 days'],
    [30 * 86_400 - 5, '30 days'],
  ])('shows %d seconds as %s', (seconds, text) => {
    expect(formatSeconds(seconds)).toBe(text)
  })
})

describe('formatFromNow', () => {
  it('looks ahead and back', () => {
    expect(formatFromNow('2026-11-28T10:00:00Z', NOW)).toBe('in 7 days')
    expect(formatFromNow('2026-11-21T09:57:00Z', NOW)).toBe('3 minutes ago')
    expect(formatFromNow('2026-11-21T10:00:00.400Z', NOW)).toBe('now')
  })

  it('leaves what is no time as it is', () => {
    expect([formatFromNow('soon', NOW), formatTime('soon')]).toEqual(['soon', 'soon'])
  })
})

describe('formatTime', () => {
  it('is UTC, to the minute', () => {
    expect(formatTime('2026-11-28T10:04:59.999Z')).toBe('2026-11-28 10:04 UTC')
  })
})

describe('formatClock', () => {
  it.each([
    [0, '0:00'],
    [0.2, '0:01'],
    [75, '1:15'],
    [3600, '1:00:00'],
    [3725, '1:02:05'],
  ])('shows %d seconds as %s', (seconds, text) => {
    expect(formatClock(seconds)).toBe(text)
  })
})

describe('formatBriefly', () => {
  it.each([
    [-1, '0s'],
    [44.4, '44s'],
    [120, '2m'],
    [5 * 3600, '5h'],
    [30 * 86_400 - 5, '30d'],
  ])('shows %d seconds as %s', (seconds, text) => {
    expect(formatBriefly(seconds)).toBe(text)
  })
})
