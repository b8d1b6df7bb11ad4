import { LadeError } from '@lade/core/errors'
import { NETWORK_SHARES } from '@lade/core/wire/limits'
import type { Logger } from 'pino'
import { DecayingAccounts } from './decaying-accounts.ts'
import { type HeldBack, HeldBackLog, type Work, type WorkCounters } from './held-back-log.ts'

/** Processor time that a byte which was sent or received pays for: hashing it for every id costs about half of this. */
export const PAID_MS_PER_BYTE = 10 / (1024 * 1024)
const HALF_LIFE_MS = 60_000
const LIMIT_MS = 5000
const WHOLE_LIMIT_MS = 30_000
/** The limit of each principal while the whole budget is used up. */
const LIMIT_UNDER_LOAD_MS = 500
/** Less unpaid time than this moves nobody behind others where requests begin. */
const NEGLIGIBLE_MS = 10
/** The same as a part of all the time used: uploads that take a little longer than their bytes pay for add up. */
const NEGLIGIBLE_SHARE = 0.1
/** What a refused request takes at least, beside costly work. */
const REFUSED_REQUEST_MS = 0.5
/** So much more than time that was paid for does unpaid time move a principal back in a queue. */
const UNPAID_WEIGHT = 50
/** A principal is never told to come back later than this. */
const MAX_WAIT_SECONDS = 120

export type { Work } from './held-back-log.ts'

export interface WorkBudgetOptions {
  /** A monotonic clock, in milliseconds. @default performance.now */
  readonly now?: () => number
  readonly log: Pick<Logger, 'warn'>
  /** The network that a principal shares a budget with; undefined for those that stand alone. */
  readonly networkOf: (principal: string) => string | undefined
  /** Unpaid processor time that one principal may have used lately, in milliseconds. @default 5000 */
  readonly limitMs?: number
  /** The same for all together. @default 30_000 */
  readonly wholeLimitMs?: number
}

/** Work that was done for a principal. */
export interface SpentWork {
  /** Who is charged: an address, a user or a wallet, as in the quota. */
  readonly principal: string
  readonly work: Work
  readonly processorMs: number
  /** Bytes that were sent or received and that the principal is charged for; they pay for their share of the time. @default 0 */
  readonly movedBytes?: number
}

/**
 * What the work in hand has cost lately, and for whom: the one place that every costly path asks.
 *
 * Two figures a principal, both in milliseconds of processor time and both halved every minute. *Used* is all of it.
 * *Unpaid* is what the bytes moved do not account for, such as hashing a body that turns out wrong; it has a limit. Queues serve whoever
 * has the least of both first.
 *
 * Everything is held in memory, for one process. It guarantees no exact amount: work is charged when it is done.
 *
 * @example
 * budget.require('ip:192.0.2.7', 'compose') // throws over_budget while its unpaid time is above the limit
 * budget.spend({ principal: 'ip:192.0.2.7', work: 'compose', processorMs: 40 })
 */
export class WorkBudget {
  readonly #used: DecayingAccounts
  readonly #unpaid: DecayingAccounts
  readonly #heldBack: HeldBackLog
  readonly #networkOf: (principal: string) => string | undefined
  readonly #limitMs: number
  readonly #wholeLimitMs: number
  readonly #counters = new Map<Work, { processorMs: number; unpaidMs: number }>()

  constructor(options: WorkBudgetOptions) {
    const { now = () => performance.now(), log, networkOf, limitMs = LIMIT_MS, wholeLimitMs = WHOLE_LIMIT_MS } = options
    this.#used = new DecayingAccounts({ now, halfLifeMs: HALF_LIFE_MS })
    this.#unpaid = new DecayingAccounts({ now, halfLifeMs: HALF_LIFE_MS })
    this.#heldBack = new HeldBackLog({ now, log })
    this.#networkOf = networkOf
    this.#limitMs = limitMs
    this.#wholeLimitMs = wholeLimitMs
  }

  /**
   * Refuses work of a principal that has used up its unpaid processor time.
   *
   * @throws {LadeError} `over_budget`.
   */
  require(principal: string, work: Work): void {
    const { used, limit } = this.#unpaidOf(principal)
    if (used <= limit) return
    this.heldBack({ principal, work, how: 'refused' })
    const waitSeconds = Math.ceil((Math.log2(used / limit) * HALF_LIFE_MS) / 1000)
    const retryAfterSeconds = Math.min(Math.max(waitSeconds, 1), MAX_WAIT_SECONDS)
    throw new LadeError('over_budget', {
      work,
      unit: 'milliseconds',
      used: Math.round(used),
      limit,
      retryAfterSeconds,
    })
  }

  /** True when `require` would refuse further work of a principal. Work that goes on then goes on slowly. */
  isOver(principal: string): boolean {
    const { used, limit } = this.#unpaidOf(principal)
    return used > limit
  }

  /** Charges work that was done, whatever came of it. */
  spend({ principal, work, processorMs, movedBytes = 0 }: SpentWork): void {
    this.#used.add(principal, processorMs)
    this.#charge({ principal, work, processorMs, unpaidMs: Math.max(0, processorMs - movedBytes * PAID_MS_PER_BYTE) })
  }

  /**
   * Charges a request that was refused, beside the work that it caused. Others are then served first. However many there are, they lead to no
   * `over_budget` by themselves: whoever asks for thousands of files that are not there may still upload them.
   */
  spendRefused(principal: string): void {
    const leftMs = LIMIT_UNDER_LOAD_MS - this.#unpaidMs(principal)
    if (leftMs <= 0) return
    const processorMs = Math.min(REFUSED_REQUEST_MS, leftMs)
    this.#charge({ principal, work: 'request', processorMs, unpaidMs: processorMs })
  }

  /** Makes time unpaid that bytes had paid for, such as those of a body that turned out wrong. */
  takeBack({ principal, work, paidMs }: { principal: string; work: Work; paidMs: number }): void {
    this.#charge({ principal, work, processorMs: 0, unpaidMs: paidMs })
  }

  #charge({ principal, work, processorMs, unpaidMs }: Omit<SpentWork, 'movedBytes'> & { unpaidMs: number }): void {
    const network = this.#networkOf(principal)
    // A debt is no deeper than what is forgiven by the time that the principal is told to come back.
    const maxDebtMs = this.#limitMs * 2 ** ((MAX_WAIT_SECONDS * 1000) / HALF_LIFE_MS)
    this.#unpaid.add(principal, unpaidMs, maxDebtMs)
    if (network !== undefined) this.#unpaid.add(network, unpaidMs, maxDebtMs * NETWORK_SHARES, { isPart: true })
    const counter = this.#counters.get(work) ?? { processorMs: 0, unpaidMs: 0 }
    counter.processorMs += processorMs
    counter.unpaidMs += unpaidMs
    this.#counters.set(work, counter)
  }

  /** Processor time that a principal has used lately, in milliseconds. */
  usedMs(principal: string): number {
    return this.#used.of(principal)
  }

  /**
   * Orders principals: the lowest is served first. Unpaid time weighs far more than paid time, so that somebody who uploads a lot is not behind
   * many who are refused.
   *
   * @returns a binary logarithm that no passing of time changes. It grows when the principal, or one of its network, is charged.
   */
  rank(principal: string): number {
    const unpaid = this.#unpaidLevel(principal) + Math.log2(UNPAID_WEIGHT)
    const used = this.#used.level(principal)
    const greater = Math.max(used, unpaid)
    return greater === -Infinity ? greater : greater + Math.log2(1 + 2 ** (Math.min(used, unpaid) - greater))
  }

  /**
   * Orders principals by unpaid time alone: whoever pays for its work is behind nobody, however much that is.
   *
   * @returns a binary logarithm as of `rank`; -Infinity for less than 10 ms, and for less than a tenth of the time used.
   */
  unpaidRank(principal: string): number {
    const negligibleMs = Math.max(NEGLIGIBLE_MS, this.usedMs(principal) * NEGLIGIBLE_SHARE)
    return this.#unpaidMs(principal) < negligibleMs ? -Infinity : this.#unpaidLevel(principal)
  }

  /** Notes that somebody was held back, for the metrics and the log. */
  heldBack(event: HeldBack): void {
    this.#heldBack.add(event)
  }

  /** What was spent and who was held back since the start, by work. */
  counters(): WorkCounters {
    return { spent: this.#counters, heldBack: this.#heldBack.counters() }
  }

  #unpaidOf(principal: string): { readonly used: number; readonly limit: number } {
    const isFull = this.#unpaid.total() > this.#wholeLimitMs
    const limit = isFull ? Math.min(LIMIT_UNDER_LOAD_MS, this.#limitMs) : this.#limitMs
    return { used: this.#unpaidMs(principal), limit }
  }

  /** Its own, or its share of what its network has: the greater counts. */
  #unpaidMs(principal: string): number {
    const network = this.#networkOf(principal)
    const ofNetwork = network === undefined ? 0 : this.#unpaid.of(network) / NETWORK_SHARES
    return Math.max(this.#unpaid.of(principal), ofNetwork)
  }

  /** The same as a level, without the time in it. */
  #unpaidLevel(principal: string): number {
    const network = this.#networkOf(principal)
    const ofNetwork = network === undefined ? -Infinity : this.#unpaid.level(network) - Math.log2(NETWORK_SHARES)
    return Math.max(this.#unpaid.level(principal), ofNetwork)
  }
}
