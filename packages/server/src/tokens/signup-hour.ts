import { LadeError, waitText } from '@lade/core/errors'
import { HOUR_MS } from '@lade/core/time'

/** The hour that signups and mails are counted in. */
export function hourOf(now: number): number {
  return Math.floor(now / HOUR_MS)
}

/** Until the next hour begins. */
export function rateLimited(now: number, { used, limit, reached, advice }: RateLimit): LadeError<'rate_limited'> {
  const retryAfterSeconds = Math.max(1, Math.ceil(((hourOf(now) + 1) * HOUR_MS - now) / 1000))
  const again = advice ?? `Try again in ${waitText(retryAfterSeconds)}.`
  return new LadeError('rate_limited', { used, limit, retryAfterSeconds, reason: `${reached} ${again}` })
}

/** `rate_limited` for an address that has signed up, or in, too often in this hour. */
export function signupsLimited(
  now: number,
  { used, limit }: Pick<RateLimit, 'used' | 'limit'>,
): LadeError<'rate_limited'> {
  const reached = `This IP address has reached its limit of ${limit} signups and sign-ins per hour.`
  return rateLimited(now, { used, limit, reached })
}

/** How much of an hourly limit is used. */
export interface RateLimit {
  readonly used: number
  readonly limit: number
  /** Who has reached which limit, as a sentence. */
  readonly reached: string
  /** What to do. @default to try again in the next hour */
  readonly advice?: string
}
