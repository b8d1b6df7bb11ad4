import { MINUTE_MS } from '@lade/core/time'
import type { Logger } from 'pino'

const SECOND_MS = 1000
/** Refused requests of one address that are logged one by one within a second. Above, its minute is summed up. */
const MAX_LINES = 100
/** The same for all addresses together. */
const MAX_LINES_OF_ALL = 300
/** Addresses that have a summary of their own in a minute; the others share one. */
const MAX_NAMED = 100
/** Addresses that are counted within a second. */
const MAX_COUNTED = 10_000
/** What addresses without a summary of their own are summed up under. */
const OTHERS = 'others'

type CountsByStatus = Record<string, number>

export interface RefusalLogOptions {
  readonly log: Pick<Logger, 'warn' | 'error'>
  /** A monotonic clock, in milliseconds. @default performance.now */
  readonly now?: () => number
}

/**
 * Decides which refused requests have a log line, so that nobody fills the disk with refusals.
 *
 * An address that is refused more than 100 times within a second has no further lines until the minute ends, answers of the service's own
 * trouble (5xx) included. The minute ends with one line that says how many were left out, by status. All addresses together have at most 300
 * lines a second for refusals, besides 5xx, which only the first rule leaves out.
 *
 * @example
 * if (refusals.isLogged('ip:192.0.2.7', 404)) log.info({ status: 404 }, 'request')
 */
export class RefusalLog {
  readonly #log: RefusalLogOptions['log']
  readonly #now: () => number
  readonly #floods = new Map<string, CountsByStatus>()
  #second = new Map<string, number>()
  #secondEndsAt = Number.NEGATIVE_INFINITY
  #linesOfAll = 0
  #minute: NodeJS.Timeout | undefined

  constructor({ log, now = () => performance.now() }: RefusalLogOptions) {
    this.#log = log
    this.#now = now
  }

  /** Counts a refused request; false when it is to be left out of the log. */
  isLogged(principal: string, status: number): boolean {
    if (this.#isAboveLimit(principal)) {
      this.#leaveOut(this.#nameOf(principal), status)
      return false
    }
    if (status >= 500) return true
    if (this.#linesOfAll >= MAX_LINES_OF_ALL) {
      this.#leaveOut(OTHERS, status)
      return false
    }
    this.#linesOfAll += 1
    return true
  }

  /** True while the refused requests of this address are left out. */
  isFlooding(principal: string): boolean {
    return this.#floods.has(principal)
  }

  /** Logs what was left out and has not been summed up yet. */
  close(): void {
    clearTimeout(this.#minute)
    this.#minute = undefined
    for (const [principal, byStatus] of this.#floods) {
      const leftOut = Object.values(byStatus).reduce((sum, count) => sum + count, 0)
      const level = Object.keys(byStatus).some((status) => Number(status) >= 500) ? 'error' : 'warn'
      this.#log[level]({ principal, leftOut, byStatus }, 'refused requests omitted from the log')
    }
    this.#floods.clear()
  }

  #isAboveLimit(principal: string): boolean {
    if (this.#now() >= this.#secondEndsAt) {
      this.#second = new Map()
      this.#linesOfAll = 0
      this.#secondEndsAt = this.#now() + SECOND_MS
    }
    if (this.#floods.has(principal)) return true
    const count = (this.#second.get(principal) ?? 0) + 1
    if (count > 1 || this.#second.size < MAX_COUNTED) this.#second.set(principal, count)
    return count > MAX_LINES
  }

  #nameOf(principal: string): string {
    return this.#floods.has(principal) || this.#floods.size < MAX_NAMED ? principal : OTHERS
  }

  #leaveOut(name: string, status: number): void {
    const byStatus = this.#floods.get(name) ?? {}
    byStatus[status] = (byStatus[status] ?? 0) + 1
    this.#floods.set(name, byStatus)
    this.#minute ??= setTimeout(() => this.close(), MINUTE_MS).unref()
  }
}
