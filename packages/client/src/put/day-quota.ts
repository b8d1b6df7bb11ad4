import { bytesText, LadeError } from '@lade/core/errors'
import type { PutJob } from './job.ts'

/**
 * Refuses a file for which today's quota has no room, before a part of it is sent and charged.
 *
 * Parts of an earlier attempt are there already and are charged no more. Which parts those are is known only once the file is hashed, so that
 * any of the caller's parts count for it; the service still decides about each part.
 *
 * @throws {LadeError} `quota_exceeded`, without `retryAfterSeconds` where no day has room for the file.
 */
export async function requireDayQuota(
  { own, overDays, group }: Pick<PutJob, 'own' | 'overDays' | 'group'>,
  sizeBytes: number,
): Promise<void> {
  if (overDays) return
  const usage = await own.usage(group.signal)
  const { quotaBytes: limit, today } = usage ?? {}
  // What an older service leaves out is not judged.
  if (limit === undefined || today === undefined) return
  const { remainingBytes: remaining, resetsAt } = today
  if (sizeBytes <= remaining) return
  const storedBytes = await own.partBytes(group.signal)
  if (sizeBytes - storedBytes <= remaining) return
  const isLargerThanDay = sizeBytes > limit
  const seconds = Math.max(1, Math.ceil((Date.parse(resetsAt) - Date.now()) / 1000))
  throw new LadeError('quota_exceeded', {
    unit: 'bytes',
    used: limit - remaining,
    limit,
    remaining,
    size: sizeBytes,
    ...(isLargerThanDay || Number.isNaN(seconds) ? {} : { retryAfterSeconds: seconds }),
    reason: isLargerThanDay ? largerThanDayText(sizeBytes, limit) : fullDayText(sizeBytes, remaining, limit),
  })
}

function largerThanDayText(sizeBytes: number, limit: number): string {
  if (limit === 0) return 'The daily quota is 0. Use another token, or fund the wallet with USDC.'
  return `This file (${bytesText(sizeBytes)}) is larger than a day's quota (${bytesText(limit)}). Upload it over several days, or ask the operator for a larger quota.`
}

function fullDayText(sizeBytes: number, remaining: number, limit: number): string {
  return `This file is ${bytesText(sizeBytes)}, but only ${bytesText(remaining)} of today's quota (${bytesText(limit)}) is left. The quota resets at 00:00 UTC. Upload it over several days, or try again then.`
}
