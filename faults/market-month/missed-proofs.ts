import type { Address } from 'viem'
import { DAY_SECONDS, type MonthEvent } from './month-chain.ts'

/** A prover that is up for so long of a period, without a break, has to prove it. */
const LIVING_SECONDS = DAY_SECONDS / 4

/** When each prover was up, in seconds of the chain. */
export class UpTimes {
  readonly #spans = new Map<Address, { from: number; to: number }[]>()

  started(prover: Address, time: number): void {
    const spans = this.#spans.get(prover) ?? []
    spans.push({ from: time, to: Number.POSITIVE_INFINITY })
    this.#spans.set(prover, spans)
  }

  ended(prover: Address, time: number): void {
    const span = this.#spans.get(prover)?.at(-1)
    if (span !== undefined) span.to = time
  }

  /** The longest that a prover was up at a stretch between two times. */
  longestUp(prover: Address, from: number, to: number): number {
    const spans = this.#spans.get(prover) ?? []
    return Math.max(0, ...spans.map((span) => Math.min(span.to, to) - Math.max(span.from, from)))
  }
}

/** Of the deals' periods, how many were proved and missed, and a sentence for each that a living prover missed. */
export function missedProofs(events: readonly MonthEvent[], upTimes: UpTimes) {
  const deals = new Map<bigint, { readonly prover: Address; acceptedAt: number }>()
  const broken: string[] = []
  let proved = 0
  let missed = 0
  for (const event of events) {
    if (event.eventName === 'DealProposed')
      deals.set(event.args.dealId, { prover: event.args.prover, acceptedAt: Number.NaN })
    const deal = deals.get(event.args.dealId)
    if (deal === undefined) continue
    if (event.eventName === 'DealAccepted') deal.acceptedAt = event.time
    if (event.eventName !== 'PeriodProven' && event.eventName !== 'PeriodMissed') continue
    // All terms are whole days, so that each period is one.
    const from = deal.acceptedAt + event.args.period * DAY_SECONDS
    const to = from + DAY_SECONDS
    const name = `period ${event.args.period} of deal ${event.args.dealId}`
    if (event.eventName === 'PeriodProven') {
      proved += 1
      if (!(event.time >= from && event.time < to)) broken.push(`${name} was proved at another time`)
      continue
    }
    missed += 1
    const upSeconds = upTimes.longestUp(deal.prover, from, to)
    if (event.time < to || upSeconds >= LIVING_SECONDS)
      broken.push(`${name} was missed by ${deal.prover}, which was up for ${upSeconds} s of it`)
  }
  return { proved, missed, broken }
}
