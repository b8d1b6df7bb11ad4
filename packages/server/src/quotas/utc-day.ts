import { DAY_MS } from '@lade/core/time'

/** The day that was asked for last: every upload asks for the same one. */
let last = { day: 0, text: '1970-01-01' }

/** The UTC day of an instant. @example utcDay(0) // '1970-01-01' */
export function utcDay(now: number): string {
  const day = Math.floor(now / DAY_MS)
  if (day !== last.day) last = { day, text: new Date(now).toISOString().slice(0, 10) }
  return last.text
}

/** The instant at which the UTC day of `now` ends, in epoch milliseconds. */
export function endOfUtcDay(now: number): number {
  return (Math.floor(now / DAY_MS) + 1) * DAY_MS
}

/** The UTC day `days` days before that of `now`. @example utcDayBefore(0, 1) // '1969-12-31' */
export function utcDayBefore(now: number, days: number): string {
  return utcDay(now - days * DAY_MS)
}

/** Whole seconds until the UTC day ends, at least 1: what a caller over its quota has to wait. */
export function secondsToNextDay(now: number): number {
  return Math.max(1, Math.ceil((endOfUtcDay(now) - now) / 1000))
}
