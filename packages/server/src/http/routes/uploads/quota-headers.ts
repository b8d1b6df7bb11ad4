import { LadeError } from '@lade/core/errors'
import type { UploadTier } from '../../../uploads/upload-tier.ts'
import { rateLimitHeaders } from '../../rate-limit-headers.ts'

interface Used {
  readonly usedBytes: number
  /** @default the tier's */
  readonly limitBytes?: number | undefined
  readonly areFilesUsedUp?: boolean
}

/** What is left of the day of a caller. */
export function quotaHeaders(tier: UploadTier, used: Used, now: number): Record<string, string> {
  const { name, dailyBytes, dailyFiles } = tier
  const { limitBytes = dailyBytes, ...rest } = used
  return rateLimitHeaders({ tier: name, limitBytes, limitFiles: dailyFiles, ...rest, now })
}

/** The same for a caller over its quota; no headers for any other failure. */
export function overQuotaHeaders(tier: UploadTier, error: unknown, now: number): Record<string, string> {
  if (!LadeError.has(error, 'rate_limited') && !LadeError.has(error, 'quota_exceeded')) return {}
  const { used, limit, usedBytes = used, limitBytes = limit, unit } = error.evidence
  return quotaHeaders(tier, { usedBytes, limitBytes, areFilesUsedUp: unit === 'files' }, now)
}
