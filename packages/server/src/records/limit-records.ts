import type { Amount } from '../quota-rule/decide-quota.ts'

/**
 * A token, and how many bytes of a day it may be charged by itself. What was charged to its user without saying for which token counts for
 * each of them.
 */
export interface AskingToken {
  readonly id: string
  readonly capBytes: number
}

/** The limit of the day that leaves the least: the principal's, or that of the token that asks. */
export interface DayLeft {
  readonly usedBytes: number
  readonly limitBytes: number
}

/** What limits one caller, besides its tier. */
export interface CallerLimits {
  /** Bytes of a day that an operator has set; null for what the tier and the tokens say. */
  readonly dailyBytes: number | null
  /** Bytes stored at a time that an operator has set; null for what the tier says. */
  readonly storedBytes: number | null
  /** The largest daily quota of the caller's live tokens; 0 without one. */
  readonly tokensBytes: number
}

/** What is set for one caller; a limit that is absent stays, null takes it away. */
export interface SetLimitsRequest {
  readonly principal: string
  readonly dailyBytes?: number | null | undefined
  readonly storedBytes?: number | null | undefined
  readonly now: number
  /** Who sets them, for the audit log. */
  readonly by: string
}

/** Limits of single callers. They count from the next upload on; what is reserved stays. */
export interface LimitRecords {
  find(request: { principal: string; now: number }): Promise<CallerLimits>
  /** Sets limits, and adds that to the audit log. */
  set(request: SetLimitsRequest): Promise<CallerLimits>
  /**
   * What counts for one token of a day: what it was charged and has reserved, and what was charged to its user by nobody knows which
   * token, as older versions did.
   */
  tokenUsage(request: { principal: string; token: string; day: string }): Promise<Pick<Amount, 'bytes'>>
}
