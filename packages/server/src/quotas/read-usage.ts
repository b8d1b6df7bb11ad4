import { LadeError } from '@lade/core/errors'
import { BYTES_PER_MB, MAX_USAGE_DAYS, type UsageResult } from '@lade/core/wire'
import { remainingOf } from '../quota-rule/decide-quota.ts'
import type { AskingToken, RecordStore } from '../records/record-store.ts'
import { endOfUtcDay, utcDay, utcDayBefore } from './utc-day.ts'

/** Those that existing readers add up. */
const WEEK_DAYS = 7

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
  /** How many days are listed, with today, as asked for. @default 7 */
  readonly days?: string | undefined
}

/**
 * What a user or a wallet has used: today against its quotas, the last days, and what is stored now.
 *
 * @throws {LadeError} `bad_request` for a number of days that is none.
 */
export async function readUsage(
  records: Pick<RecordStore, 'quotas' | 'limits'>,
  input: ReadUsageInput,
): Promise<UsageResult> {
  const { principal, userId, email, quotaFiles, token, now } = input
  const dayCount = dayCountOf(input.days)
  const readDays = Math.max(dayCount, WEEK_DAYS)
  const date = utcDay(now)
  const fromDay = utcDayBefore(now, readDays - 1)
  const usage = await records.quotas.usage({ principal, fromDay, today: date, now })
  const limits = await records.limits.find({ principal, now })
  const days = Array.from({ length: readDays }, (_, index) => {
    const shown = utcDayBefore(now, readDays - 1 - index)
    return usage.days.find((day) => day.date === shown) ?? { date: shown, bytes: 0, files: 0 }
  })
  const week = days.slice(-WEEK_DAYS)
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
    last7DaysTotalBytes: week.reduce((sum, day) => sum + day.bytes, 0),
    days: days.slice(-dayCount),
    quotaMb: Math.floor(quotaBytes / BYTES_PER_MB),
    last7Days: week,
    stored: { ...usage.stored, limitBytes: limits.storedBytes ?? input.storedBytes ?? null },
    userQuotaBytes,
    token: token === undefined ? null : { quotaBytes: token.capBytes, usedBytes: ofToken?.bytes ?? 0 },
  }
}

function dayCountOf(text: string | undefined): number {
  if (text === undefined) return WEEK_DAYS
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (count >= 1 && count <= MAX_USAGE_DAYS) return count
  throw new LadeError('bad_request', { reason: `days must be a whole number from 1 to ${MAX_USAGE_DAYS}.` })
}
