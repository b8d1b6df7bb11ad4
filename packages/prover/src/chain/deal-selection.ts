import type { FastifyBaseLogger } from 'fastify'
import type { PieceStore } from '../pieces/piece-store.ts'
import type { ChainLimits } from './chain-limits.ts'
import { pieceOfDeal } from './check-piece.ts'
import { type Deal, type Head, nameOf } from './deal.ts'
import type { DealMetrics } from './deal-metrics.ts'
import { type DealRefusal, isWorthProving, isWorthSettling, refusalOf } from './deal-policy.ts'
import type { FollowedContract } from './followed-contract.ts'
import type { PlannedTask } from './round-plan.ts'

/** A settlement that paid nothing, since the token refuses the prover, is repeated after this, in seconds. */
const UNPAID_SECONDS = 3600
/** So many deals are named in a line of the log. */
const NAMED_DEALS = 10

interface KnownDeal {
  readonly contract: string
  readonly state: 'proposed' | 'active' | 'belowGas'
  readonly bonded: bigint
}

/** A call that a deal asks for, of the contract that has the deal. */
export interface DealTask extends PlannedTask {
  readonly contract: FollowedContract
}

/** What choices are made by, besides deal and limits. */
export interface ChoiceFacts {
  readonly weiPerGas: bigint
  readonly isComplete: boolean
}

export interface DealSelectionOptions {
  readonly store: PieceStore
  readonly limits: ChainLimits
  readonly metrics: DealMetrics
  readonly log?: FastifyBaseLogger | undefined
}

/** Decides which calls are worth sending, puts the deals of the others off, and says why, once for each deal. */
export class DealSelection {
  readonly #options: DealSelectionOptions
  /** The deals that are not over, by their names. */
  readonly #states = new Map<string, KnownDeal>()
  /** What acceptances of one look at the chain may still put up; undefined before the first. */
  #bondRoom: bigint | undefined
  /** What was said about a deal last, so that it is said once. */
  readonly #said = new Map<string, string>()
  /** The refusals of one look at the chain. */
  readonly #refused: { readonly deal: Deal; readonly reason: DealRefusal }[] = []
  readonly #lapsed = new Map<string, bigint>()
  /** What was owed when a deal was settled last, and when that was. */
  readonly #settled = new Map<string, { readonly earned: bigint; readonly time: number }>()

  constructor(options: DealSelectionOptions) {
    this.#options = options
  }

  /** Notes a deal that is not over. */
  see(deal: Deal): void {
    const name = nameOf(deal)
    const state = deal.state === 'proposed' ? 'proposed' : 'active'
    this.#states.set(name, { contract: deal.contract, state, bonded: deal.bonded })
    const settled = this.#settled.get(name)
    if (settled !== undefined && deal.earned < settled.earned) this.#settled.delete(name)
  }

  drop(deal: Deal): void {
    for (const map of [this.#states, this.#said, this.#lapsed, this.#settled]) map.delete(nameOf(deal))
  }

  /** What is put up for all deals that were seen. */
  get bonded(): bigint {
    return [...this.#states.values()].reduce((sum, { bonded }) => sum + bonded, 0n)
  }

  isSettled(deal: Deal, { time }: Head): void {
    this.#settled.set(nameOf(deal), { earned: deal.earned, time })
  }

  /**
   * False when the call is not sent now; the deal is read again in time. Asked once all deals of a look at the chain were seen.
   *
   * @param isComplete - true when no deal is unknown that may hold a bond.
   */
  isChosen(task: DealTask, head: Head, { weiPerGas, isComplete }: ChoiceFacts): boolean {
    if (task.kind === 'settle') return this.#isSettlementChosen(task, head, weiPerGas)
    const { deal, kind, until, contract } = task
    const { limits, store } = this.#options
    const { watch, gasUse } = contract
    const { terms } = contract.marketplace
    const refusal = kind === 'accept' ? refusalOf(deal, limits) : undefined
    if (refusal !== undefined) {
      this.#refuse(deal, refusal)
      watch.readRarely(deal, until, head.time)
      return false
    }
    if (kind === 'reopen') this.#countLapse(deal)
    if (pieceOfDeal(store, deal) === undefined) {
      this.sayOnce(deal, 'lost', NOT_HELD[kind])
      watch.retryLater(deal, head.time)
      return false
    }
    const prices = { weiPerGas, gasUse }
    if (isWorthProving(deal, kind, { time: head.time, terms, policy: limits, prices })) {
      return kind !== 'accept' || deal.bond === 0n || this.#canBond(task, head, isComplete)
    }
    this.#states.set(nameOf(deal), { contract: deal.contract, state: 'belowGas', bonded: deal.bonded })
    this.sayOnce(deal, 'gas', NOT_WORTH_IT[kind])
    watch.readAgain(deal, until, head.time)
    return false
  }

  /** Tells log and metrics what one look at some contracts has found. */
  report(contracts: readonly FollowedContract[]): void {
    const { log, metrics } = this.#options
    for (const refusals of Map.groupBy(this.#refused, ({ deal, reason }) => `${reason} ${deal.contract}`).values()) {
      const [first] = refusals
      if (first === undefined) continue
      const { reason, deal } = first
      const named = namedDeals(refusals.map((refusal) => refusal.deal))
      log?.warn({ contract: deal.contract, reason, ...named }, REFUSED[reason])
    }
    this.#refused.length = 0
    this.#bondRoom = undefined
    for (const { marketplace } of contracts) {
      const counts = { proposed: 0, active: 0, belowGas: 0 }
      let bonded = 0n
      for (const deal of this.#states.values()) {
        if (deal.contract !== marketplace.address) continue
        counts[deal.state] += 1
        bonded += deal.bonded
      }
      metrics.setDeals(marketplace.address, counts, bonded)
    }
  }

  sayOnce(deal: Deal, reason: string, sentence: string): undefined {
    if (this.#isNews(deal, `${sentence}: ${reason}`)) {
      this.#options.log?.warn({ contract: deal.contract, dealId: String(deal.dealId), reason }, sentence)
    }
  }

  /** The budget is for what is put up at a time. */
  #canBond({ deal, contract }: DealTask, head: Head, isComplete: boolean): boolean {
    const { watch } = contract
    if (!isComplete) {
      watch.readAgain(deal, head.time, head.time)
      return false
    }
    const room = this.#bondRoom ?? this.#options.limits.mostBond - this.bonded
    this.#bondRoom = deal.bond <= room ? room - deal.bond : room
    if (deal.bond <= room) return true
    this.sayOnce(deal, 'bond', 'a deal waits: LADE_PROVER_BOND_MAX_USDC is put up for others')
    watch.retryLater(deal, head.time)
    return false
  }

  #isSettlementChosen({ deal, contract }: DealTask, { time }: Head, weiPerGas: bigint): boolean {
    const { watch, gasUse } = contract
    const settled = this.#settled.get(nameOf(deal))
    const isStuck = settled !== undefined && time < settled.time + UNPAID_SECONDS
    if (!isStuck && isWorthSettling(deal, this.#options.limits, { time, weiPerGas, gasUse })) return true
    // The next period is proved whether the ones before are paid or not.
    const next = deal.accountedUntil > time ? deal.accountedUntil : Number.POSITIVE_INFINITY
    watch.readRarely(deal, next, time)
    return false
  }

  #refuse(deal: Deal, reason: DealRefusal): void {
    if (!this.#isNews(deal, reason)) return
    this.#options.metrics.countRefusal(deal.contract, reason)
    this.#refused.push({ deal, reason })
  }

  #countLapse(deal: Deal): void {
    if (this.#lapsed.get(nameOf(deal)) === deal.challengeBlock) return
    this.#lapsed.set(nameOf(deal), deal.challengeBlock)
    this.#options.metrics.countLapse(deal.contract)
  }

  #isNews(deal: Deal, said: string): boolean {
    const name = nameOf(deal)
    const isNews = this.#said.get(name) !== said
    this.#said.set(name, said)
    return isNews
  }
}

const NOT_HELD = {
  accept: 'a deal was not accepted: its piece is not stored',
  open: 'a deal cannot be proved: its piece is gone',
  reopen: 'a deal cannot be proved: its piece is gone',
  prove: 'a deal cannot be proved: its piece is gone',
} as const

/** How many deals there are, and the first of them, for the log. */
export function namedDeals(deals: readonly Deal[]): { readonly count: number; readonly dealIds: readonly string[] } {
  return { count: deals.length, dealIds: deals.slice(0, NAMED_DEALS).map(({ dealId }) => String(dealId)) }
}

const NOT_WORTH_IT = {
  accept: 'a deal was not accepted: gas costs more than it pays',
  open: 'a deal is not proved: gas costs more than it pays',
  reopen: 'a deal is not proved: gas costs more than it pays',
  prove: 'a deal is not proved: gas costs more than it pays',
} as const

const REFUSED: Readonly<Record<DealRefusal, string>> = {
  client: 'deals were not accepted: their clients are not in LADE_PROVER_CLIENTS',
  term: 'deals were not accepted: their terms are longer than LADE_PROVER_TERM_MAX_DAYS',
  bond: 'deals were not accepted: their bonds are more than LADE_PROVER_BOND_MAX_USDC',
  price: 'deals were not accepted: they pay less than LADE_PROVER_LEAST_USDC_PER_GIB_DAY',
}
