import { LadeError } from '@lade/core/errors'
import type { UploadTier } from '../../../uploads/upload-tier.ts'
import { rateLimitHeaders } from '../../rate-limit-headers.ts'

interface Used {
  readonly usedBytes: number
  readonly areFilesUsedUp?: boolean
}

/** What is left of the day of a caller. */
export function quotaHeaders(tier: UploadTier, used: Used, now: number): Record<string, string> {
  const { name, dailyBytes, dailyFiles } = tier
  return rateLimitHeaders({ tier: name, limitBytes: dailyBytes, limitFiles: dailyFiles, ...used, now })
}

/** The same for a caller over its quota; no headers for any other failure. */
export function overQuotaHeaders(tier: UploadTier, error: unknown, now: number): Record<string, string> {
  if (!LadeError.has(error, 'rate_limited') && !LadeError.has(error, 'quota_exceeded')) return {}
  const { used, usedBytes = used, unit } = error.evidence
  return quotaHeaders(tier, { usedBytes, areFilesUsedUp: unit === 'files' }, now)
}
