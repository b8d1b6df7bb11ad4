import { LadeError } from '@lade/core/errors'
import { HOUR_MS } from '@lade/core/time'

/** The hour that signups and mails are counted in. */
export function hourOf(now: number): number {
  return Math.floor(now / HOUR_MS)
}

/** Until the next hour begins. */
export function rateLimited(now: number, evidence: RateLimit): LadeError<'rate_limited'> {
  const retryAfterSeconds = Math.max(1, Math.ceil(((hourOf(now) + 1) * HOUR_MS - now) / 1000))
  return new LadeError('rate_limited', { ...evidence, retryAfterSeconds })
}

export interface RateLimit {
  readonly used: number
  readonly limit: number
  /** What the limit is of, and what to do, for the caller. @default nothing is said */
  readonly reason?: string
}
