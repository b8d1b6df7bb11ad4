import { BYTES_PER_MB, type UsageResult } from '@lade/core/wire'
import { remainingOf } from '../quota-rule/decide-quota.ts'
import type { AskingToken, RecordStore } from '../records/record-store.ts'
import { endOfUtcDay, utcDay, utcDayBefore } from './utc-day.ts'

const DAYS_SHOWN = 7

export interface ReadUsageInput {
  readonly principal: string
  readonly userId: string
  readonly email: string | null
  /** Of the tier, or of the token where that is more; what is set for the caller takes its place. */
  readonly quotaBytes: number
  readonly quotaFiles: number
  /** Of the tier; undefined for no limit. */
  readonly storedBytes?: number | undefined
  /** What asks, where that has a quota of its own. */
  readonly token?: AskingToken | undefined
  readonly now: number
}

/** What a user or a wallet has used: today against its quotas, the last seven days, and what is stored now. */
export async function readUsage(
  records: Pick<RecordStore, 'quotas' | 'limits'>,
  input: ReadUsageInput,
): Promise<UsageResult> {
  const { principal, userId, email, quotaFiles, token, now } = input
  const date = utcDay(now)
  const fromDay = utcDayBefore(now, DAYS_SHOWN - 1)
  const usage = await records.quotas.usage({ principal, fromDay, today: date, now })
  const limits = await records.limits.find({ principal, now })
  const days = Array.from({ length: DAYS_SHOWN }, (_, index) => {
    const shown = utcDayBefore(now, DAYS_SHOWN - 1 - index)
    return usage.days.find((day) => day.date === shown) ?? { date: shown, bytes: 0, files: 0 }
  })
  const today = usage.days.find((day) => day.date === date) ?? { date, bytes: 0, files: 0 }
  const { reservedBytes, reservedFiles } = usage
  const used = { bytes: today.bytes + reservedBytes, files: today.files + reservedFiles }
  const userQuotaBytes = limits.dailyBytes ?? Math.max(input.quotaBytes, limits.tokensBytes)
  const remaining = remainingOf(used, { capBytes: userQuotaBytes, capFiles: quotaFiles })
  const ofToken = token && (await records.limits.tokenUsage({ principal, token: token.id, day: date }))
  const tokenQuotaBytes = token?.capBytes ?? Number.POSITIVE_INFINITY
  const quotaBytes = Math.min(userQuotaBytes, tokenQuotaBytes)
  return {
    userId,
    email,
    quotaBytes,
    today: {
      ...today,
      reservedBytes,
      remainingBytes: Math.min(remaining.bytes, Math.max(0, tokenQuotaBytes - (ofToken?.bytes ?? 0))),
      filesLimit: quotaFiles,
      reservedFiles,
      remainingFiles: remaining.files,
      resetsAt: new Date(endOfUtcDay(now)).toISOString(),
    },
    last7DaysTotalBytes: days.reduce((sum, day) => sum + day.bytes, 0),
    days,
    quotaMb: Math.floor(quotaBytes / BYTES_PER_MB),
    last7Days: days,
    stored: { ...usage.stored, limitBytes: limits.storedBytes ?? input.storedBytes ?? null },
    userQuotaBytes,
    token: token === undefined ? null : { quotaBytes: token.capBytes, usedBytes: ofToken?.bytes ?? 0 },
  }
}
