import type { FastifyBaseLogger } from 'fastify'
import type { PieceStore } from '../pieces/piece-store.ts'
import type { ChainLimits } from './chain-limits.ts'
import { pieceOfDeal } from './check-piece.ts'
import type { Deal, Head, Terms } from './deal.ts'
import type { DealMetrics } from './deal-metrics.ts'
import { type DealRefusal, isWorthProving, isWorthSettling, refusalOf } from './deal-policy.ts'
import type { DealWatch } from './deal-watch.ts'
import type { GasUse } from './gas-use.ts'
import type { DealTask } from './round-plan.ts'

/** A deal whose piece is not there is looked at again after this, in seconds. */
const RETRY_SECONDS = 30
/** A settlement that paid nothing, since the token refuses the prover, is repeated after this, in seconds. */
const UNPAID_SECONDS = 3600
/** So many deals of one reason are named in the log. */
const NAMED_DEALS = 10

export interface DealSelectionOptions {
  readonly store: PieceStore
  readonly terms: Terms
  readonly limits: ChainLimits
  readonly metrics: DealMetrics
  readonly watch: DealWatch
  readonly gasUse: GasUse
  readonly log?: FastifyBaseLogger | undefined
}

/** Decides which calls are worth sending, puts the deals of the others off, and says why, once for each deal. */
export class DealSelection {
  readonly #options: DealSelectionOptions
  /** The deals that are not over. */
  readonly #states = new Map<bigint, 'proposed' | 'active' | 'belowGas'>()
  /** What was said about a deal last, so that it is said once. */
  readonly #said = new Map<bigint, string>()
  /** The refusals of one look at the chain. */
  readonly #refused = new Map<DealRefusal, bigint[]>()
  readonly #lapsed = new Map<bigint, bigint>()
  /** What was owed when a deal was settled last, and when that was. */
  readonly #settled = new Map<bigint, { readonly earned: bigint; readonly time: number }>()

  constructor(options: DealSelectionOptions) {
    this.#options = options
  }

  /** Notes a deal that is not over. */
  see({ dealId, state, earned }: Deal): void {
    this.#states.set(dealId, state === 'proposed' ? 'proposed' : 'active')
    const settled = this.#settled.get(dealId)
    if (settled !== undefined && earned < settled.earned) this.#settled.delete(dealId)
  }

  drop({ dealId }: Deal): void {
    for (const map of [this.#states, this.#said, this.#lapsed, this.#settled]) map.delete(dealId)
  }

  isSettled({ dealId, earned }: Deal, { time }: Head): void {
    this.#settled.set(dealId, { earned, time })
  }

  /** False when the call is not sent now; the deal is read again in time. */
  isChosen(task: DealTask, head: Head, weiPerGas: bigint): boolean {
    if (task.kind === 'settle') return this.#isSettlementChosen(task.deal, head, weiPerGas)
    const { deal, kind, until } = task
    const { limits, store, terms, gasUse, watch } = this.#options
    const refusal = kind === 'accept' ? refusalOf(deal, limits) : undefined
    if (refusal !== undefined) {
      this.#refuse(deal, refusal)
      watch.readRarely(deal, until, head.time)
      return false
    }
    if (kind === 'reopen') this.#countLapse(deal)
    if (pieceOfDeal(store, deal) === undefined) {
      this.sayOnce(deal, 'lost', NOT_HELD[kind])
      watch.readAgain(deal, head.time + RETRY_SECONDS, head.time)
      return false
    }
    const prices = { weiPerGas, gasUse }
    if (isWorthProving(deal, kind, { time: head.time, terms, policy: limits, prices })) return true
    this.#states.set(deal.dealId, 'belowGas')
    this.sayOnce(deal, 'gas', NOT_WORTH_IT[kind])
    watch.readAgain(deal, until, head.time)
    return false
  }

  /** Tells log and metrics what one look at the chain has found. */
  report(): void {
    const { log, metrics } = this.#options
    for (const [reason, dealIds] of this.#refused) {
      const named = dealIds.slice(0, NAMED_DEALS).map(String)
      log?.warn({ reason, count: dealIds.length, dealIds: named }, REFUSED[reason])
    }
    this.#refused.clear()
    const counts = { proposed: 0, active: 0, belowGas: 0 }
    for (const state of this.#states.values()) counts[state] += 1
    metrics.setDeals(counts)
  }

  sayOnce({ dealId }: Deal, reason: string, sentence: string): undefined {
    if (this.#isNews(dealId, `${sentence}: ${reason}`)) {
      this.#options.log?.warn({ dealId: String(dealId), reason }, sentence)
    }
  }

  #isSettlementChosen(deal: Deal, { time }: Head, weiPerGas: bigint): boolean {
    const { limits, gasUse, watch } = this.#options
    const settled = this.#settled.get(deal.dealId)
    const isStuck = settled !== undefined && time < settled.time + UNPAID_SECONDS
    if (!isStuck && isWorthSettling(deal, limits, { weiPerGas, gasUse })) return true
    // The next period is proved whether the ones before are paid or not.
    const next = deal.accountedUntil > time ? deal.accountedUntil : Number.POSITIVE_INFINITY
    watch.readRarely(deal, next, time)
    return false
  }

  #refuse({ dealId }: Deal, reason: DealRefusal): void {
    if (!this.#isNews(dealId, reason)) return
    this.#options.metrics.countRefusal(reason)
    const dealIds = this.#refused.get(reason)
    if (dealIds === undefined) this.#refused.set(reason, [dealId])
    else dealIds.push(dealId)
  }

  #countLapse({ dealId, challengeBlock }: Deal): void {
    if (this.#lapsed.get(dealId) === challengeBlock) return
    this.#lapsed.set(dealId, challengeBlock)
    this.#options.metrics.countLapse()
  }

  #isNews(dealId: bigint, said: string): boolean {
    const isNews = this.#said.get(dealId) !== said
    this.#said.set(dealId, said)
    return isNews
  }
}

const NOT_HELD = {
  accept: 'a deal was not accepted: its piece is not stored',
  open: 'a deal cannot be proved: its piece is gone',
  reopen: 'a deal cannot be proved: its piece is gone',
  prove: 'a deal cannot be proved: its piece is gone',
} as const

const NOT_WORTH_IT = {
  accept: 'a deal was not accepted: gas costs more than it pays',
  open: 'a deal is not proved: gas costs more than it pays',
  reopen: 'a deal is not proved: gas costs more than it pays',
  prove: 'a deal is not proved: gas costs more than it pays',
} as const

const REFUSED: Readonly<Record<DealRefusal, string>> = {
  client: 'deals were not accepted: their clients are not in LADE_PROVER_CLIENTS',
  term: 'deals were not accepted: their terms are longer than LADE_PROVER_TERM_MAX_DAYS',
  price: 'deals were not accepted: they pay less than LADE_PROVER_LEAST_USDC_PER_GIB_DAY',
}
