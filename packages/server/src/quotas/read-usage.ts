import { LadeError } from '@lade/core/errors'
import { BYTES_PER_MB, MAX_USAGE_DAYS, type UsageResult } from '@lade/core/wire'
import { remainingOf } from '../quota-rule/decide-quota.ts'
import type { RecordStore } from '../records/record-store.ts'
import { endOfUtcDay, utcDay, utcDayBefore } from './utc-day.ts'

/** Those that existing readers add up. */
const WEEK_DAYS = 7

/**
 * What a user or a wallet has used: today against the quota, the last days, and what is stored now.
 *
 * @throws {LadeError} `bad_request` for a number of days that is none.
 */
export async function readUsage(
  records: RecordStore,
  input: {
    readonly principal: string
    readonly userId: string
    readonly email: string | null
    readonly quotaBytes: number
    readonly quotaFiles: number
    readonly now: number
    /** How many days are listed, with today, as asked for. @default 7 */
    readonly days?: string | undefined
  },
): Promise<UsageResult> {
  const { principal, userId, email, quotaBytes, quotaFiles, now } = input
  const dayCount = dayCountOf(input.days)
  const readDays = Math.max(dayCount, WEEK_DAYS)
  const date = utcDay(now)
  const fromDay = utcDayBefore(now, readDays - 1)
  const usage = await records.quotas.usage({ principal, fromDay, today: date, now })
  const days = Array.from({ length: readDays }, (_, index) => {
    const shown = utcDayBefore(now, readDays - 1 - index)
    return usage.days.find((day) => day.date === shown) ?? { date: shown, bytes: 0, files: 0 }
  })
  const week = days.slice(-WEEK_DAYS)
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
    last7DaysTotalBytes: week.reduce((sum, day) => sum + day.bytes, 0),
    days: days.slice(-dayCount),
    quotaMb: Math.floor(quotaBytes / BYTES_PER_MB),
    last7Days: week,
    stored: usage.stored,
  }
}

function dayCountOf(text: string | undefined): number {
  if (text === undefined) return WEEK_DAYS
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (count >= 1 && count <= MAX_USAGE_DAYS) return count
  throw new LadeError('bad_request', { reason: `days must be a whole number from 1 to ${MAX_USAGE_DAYS}.` })
}
