import { countOf } from './amounts.ts'

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/**
 * A length of time for people: in the largest unit that it has two of.
 *
 * @example
 * formatSeconds(90) // '90 seconds'
 * formatSeconds(3 * 3600) // '3 hours'
 */
export function formatSeconds(seconds: number): string {
  if (seconds < 2 * MINUTE) return countOf(Math.ceil(seconds), 'second')
  if (seconds < 2 * HOUR) return countOf(Math.round(seconds / MINUTE), 'minute')
  if (seconds < 2 * DAY) return countOf(Math.round(seconds / HOUR), 'hour')
  return countOf(Math.round(seconds / DAY), 'day')
}

/** A length of time in a few characters, for columns. @example formatBriefly(90) // '90s' */
export function formatBriefly(seconds: number): string {
  if (seconds < 2 * MINUTE) return `${Math.max(0, Math.round(seconds))}s`
  if (seconds < 2 * HOUR) return `${Math.round(seconds / MINUTE)}m`
  if (seconds < 2 * DAY) return `${Math.round(seconds / HOUR)}h`
  return `${Math.round(seconds / DAY)}d`
}

/** @example formatFromNow('2026-11-28T10:00:00Z', new Date('2026-11-21T10:00:00Z')) // 'in 7 days' */
export function formatFromNow(time: string, now: Date): string {
  const seconds = (Date.parse(time) - now.getTime()) / 1000
  if (Number.isNaN(seconds)) return time
  if (Math.abs(seconds) < 1) return 'now'
  return seconds > 0 ? `in ${formatSeconds(seconds)}` : `${formatSeconds(-seconds)} ago`
}

/** Days and times are UTC, as those of the service are. @example formatTime('2026-11-28T10:04:59Z') // '2026-11-28 10:04 UTC' */
export function formatTime(time: string): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return time
  return `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

/** As a clock shows it. @example formatClock(75) // '1:15' */
export function formatClock(seconds: number): string {
  const whole = Math.ceil(seconds)
  const two = (value: number) => String(value).padStart(2, '0')
  const minutes = Math.floor(whole / MINUTE)
  if (whole < HOUR) return `${minutes}:${two(whole % MINUTE)}`
  return `${Math.floor(whole / HOUR)}:${two(minutes % MINUTE)}:${two(whole % MINUTE)}`
}
