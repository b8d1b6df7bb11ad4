import { BYTES_PER_MB, type UsageResult } from '@lade/core/wire'
import { remainingOf } from '../quota-rule/decide-quota.ts'
import type { RecordStore } from '../records/record-store.ts'
import { endOfUtcDay, utcDay, utcDayBefore } from './utc-day.ts'

const DAYS_SHOWN = 7

/** What a user or a wallet has used: today against the quota, the last seven days, and what is stored now. */
export async function readUsage(
  records: RecordStore,
  input: {
    readonly principal: string
    readonly userId: string
    readonly email: string | null
    readonly quotaBytes: number
    readonly quotaFiles: number
    readonly now: number
  },
): Promise<UsageResult> {
  const { principal, userId, email, quotaBytes, quotaFiles, now } = input
  const date = utcDay(now)
  const fromDay = utcDayBefore(now, DAYS_SHOWN - 1)
  const usage = await records.quotas.usage({ principal, fromDay, today: date, now })
  const days = Array.from({ length: DAYS_SHOWN }, (_, index) => {
    const shown = utcDayBefore(now, DAYS_SHOWN - 1 - index)
    return usage.days.find((day) => day.date === shown) ?? { date: shown, bytes: 0, files: 0 }
  })
  const today = usage.days.find((day) => day.date === date) ?? { date, bytes: 0, files: 0 }
  const { reservedBytes, reservedFiles } = usage
  const used = { bytes: today.bytes + reservedBytes, files: today.files + reservedFiles }
  const remaining = remainingOf(used, { capBytes: quotaBytes, capFiles: quotaFiles })
  return {
    userId,
    email,
    quotaBytes,
    today: {
      ...today,
      reservedBytes,
      remainingBytes: remaining.bytes,
      filesLimit: quotaFiles,
      reservedFiles,
      remainingFiles: remaining.files,
      resetsAt: new Date(endOfUtcDay(now)).toISOString(),
    },
    last7DaysTotalBytes: days.reduce((sum, day) => sum + day.bytes, 0),
    days,
    quotaMb: Math.floor(quotaBytes / BYTES_PER_MB),
    last7Days: days,
    stored: usage.stored,
  }
}
