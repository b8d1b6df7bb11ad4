import { HEADER } from '@lade/core/wire'
import { endOfUtcDay, secondsToNextDay } from '../quotas/utc-day.ts'

const DAY_SECONDS = 86_400

/** RFC 9651, section 3.3.1: the most that a structured field can say. */
const LARGEST_INTEGER = 999_999_999_999_999

/**
 * What is left of a daily quota, in the three-header form that existing clients read and in the structured fields of
 * draft-ietf-httpapi-ratelimit-headers. Bytes, and epoch seconds or seconds. The number of
 * files of a day is a second policy, which only those are told of who have none left.
 */
export function rateLimitHeaders(quota: {
  readonly tier: 'sponsored' | 'token' | 'wallet'
  readonly limitBytes: number
  readonly usedBytes: number
  readonly limitFiles: number
  /** True for a caller who was refused because of them. */
  readonly areFilesUsedUp?: boolean
  readonly now: number
}): Record<string, string> {
  const { tier, limitBytes, usedBytes, limitFiles, areFilesUsedUp = false, now } = quota
  const remaining = Math.max(0, limitBytes - usedBytes)
  return {
    [HEADER.rateLimitLimit]: String(limitBytes),
    [HEADER.rateLimitRemaining]: String(remaining),
    [HEADER.rateLimitReset]: String(endOfUtcDay(now) / 1000),
    'ratelimit-policy': [
      `"${tier}";q=${Math.min(limitBytes, LARGEST_INTEGER)};w=${DAY_SECONDS};qu="content-bytes"`,
      ...(areFilesUsedUp ? [`"${tier}-files";q=${limitFiles};w=${DAY_SECONDS};qu="files"`] : []),
    ].join(', '),
    ratelimit: [
      `"${tier}";r=${Math.min(remaining, LARGEST_INTEGER)};t=${secondsToNextDay(now)}`,
      ...(areFilesUsedUp ? [`"${tier}-files";r=0;t=${secondsToNextDay(now)}`] : []),
    ].join(', '),
  }
}
