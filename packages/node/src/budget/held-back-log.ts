import { MINUTE_MS } from '@lade/core/time'
import type { Logger } from 'pino'

/** So many principals a minute are named in the log; the others are in the metrics. */
const MAX_NAMED = 100

/** What costs more than the bytes that it moves. */
export type Work = 'request' | 'hash' | 'links' | 'compose' | 'challenge' | 'read' | 'chain' | 'store' | 'discard'

/** Somebody whose work was refused, had to wait, was served more slowly, or was ended. */
export interface HeldBack {
  readonly principal: string
  readonly work: Work
  readonly how: 'refused' | 'waited' | 'slowed' | 'closed'
}

/** What was spent and who was held back since the start. */
export interface WorkCounters {
  readonly spent: ReadonlyMap<Work, { readonly processorMs: number; readonly unpaidMs: number }>
  readonly heldBack: readonly { readonly work: Work; readonly how: HeldBack['how']; readonly count: number }[]
}

/**
 * Counts who was held back, and logs it: a line for the first time, and one a minute with how often it happened since.
 *
 * At most 100 principals have a line in a minute.
 */
export class HeldBackLog {
  readonly #now: () => number
  readonly #log: Pick<Logger, 'warn'>
  readonly #counts = new Map<string, { readonly work: Work; readonly how: HeldBack['how']; count: number }>()
  readonly #named = new Map<string, { readonly event: HeldBack; count: number }>()
  #minuteEndsAt = Number.NEGATIVE_INFINITY

  constructor({ now, log }: { readonly now: () => number; readonly log: Pick<Logger, 'warn'> }) {
    this.#now = now
    this.#log = log
  }

  add(event: HeldBack): void {
    const { principal, work, how } = event
    const counted = this.#counts.get(`${work} ${how}`) ?? { work, how, count: 0 }
    counted.count += 1
    this.#counts.set(`${work} ${how}`, counted)
    if (this.#now() >= this.#minuteEndsAt) this.#endMinute()
    const name = `${principal} ${work} ${how}`
    const known = this.#named.get(name)
    if (known !== undefined) known.count += 1
    else if (this.#named.size < MAX_NAMED) {
      this.#named.set(name, { event, count: 0 })
      this.#log.warn({ ...event, count: 1 }, 'held back')
    }
  }

  counters(): WorkCounters['heldBack'] {
    return [...this.#counts.values()]
  }

  #endMinute(): void {
    for (const { event, count } of this.#named.values()) {
      if (count > 0) this.#log.warn({ ...event, count }, 'held back')
    }
    this.#named.clear()
    this.#minuteEndsAt = this.#now() + MINUTE_MS
  }
}
