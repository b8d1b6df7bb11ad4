import { Counter, Gauge, type Registry } from 'prom-client'
import type { DealRefusal } from './deal-policy.ts'

/** How a prover stands with its chain. */
export const FOLLOWING_STATES = [
  'starting',
  'following',
  'fees_too_high',
  'unavailable',
  'wrong_chain',
  'wrong_contract',
] as const

const MICRO_USDC = 1_000_000

export type FollowingState = (typeof FOLLOWING_STATES)[number]

/** What a prover does for its deals, in numbers. */
export class DealMetrics {
  #state: FollowingState = 'starting'
  #waitingCalls = 0
  #weiPerGas: bigint | undefined
  readonly #deals: Gauge<'contract' | 'state'>
  readonly #belowGas: Gauge<'contract'>
  readonly #bonded: Gauge<'contract'>
  readonly #refusals: Counter<'contract' | 'reason'>
  readonly #transactions: Counter<'contract' | 'call' | 'outcome'>
  readonly #gasWei: Counter
  readonly #lapsed: Counter<'contract'>

  constructor(registry: Registry) {
    const registers = [registry]
    new Gauge({
      name: 'lade_prover_following',
      help: 'How the prover stands with its chain: 1 for the state that it is in.',
      labelNames: ['state'],
      registers,
      collect: gaugeOf((gauge) => {
        for (const state of FOLLOWING_STATES) gauge.set({ state }, state === this.#state ? 1 : 0)
      }),
    })
    new Gauge({
      name: 'lade_prover_waiting_calls',
      help: 'Calls that deals asked for in the last look at the chain and that were not sent yet.',
      registers,
      collect: gaugeOf((gauge) => gauge.set(this.#waitingCalls)),
    })
    new Gauge({
      name: 'lade_prover_fee_wei',
      help: 'What a unit of gas cost in the last look at the chain, in wei.',
      registers,
      collect: gaugeOf((gauge) => gauge.set(Number(this.#weiPerGas ?? 0n))),
    })
    this.#deals = new Gauge({
      name: 'lade_prover_deals',
      help: "The prover's own deals that are not over.",
      labelNames: ['contract', 'state'],
      registers,
    })
    this.#belowGas = new Gauge({
      name: 'lade_prover_deals_below_gas',
      help: 'Deals that wait because the gas of their proofs costs more than they pay.',
      labelNames: ['contract'],
      registers,
    })
    this.#bonded = new Gauge({
      name: 'lade_prover_bonded_usdc',
      help: 'What is put up as bonds and neither lost nor paid back, in USDC.',
      labelNames: ['contract'],
      registers,
    })
    this.#refusals = new Counter({
      name: 'lade_prover_refused_deals_total',
      help: 'Deals that were not accepted, by the setting that refused them.',
      labelNames: ['contract', 'reason'],
      registers,
    })
    this.#transactions = new Counter({
      name: 'lade_prover_transactions_total',
      help: 'Transactions that were sent, by the function that they call.',
      labelNames: ['contract', 'call', 'outcome'],
      registers,
    })
    this.#gasWei = new Counter({
      name: 'lade_prover_gas_wei_total',
      help: 'What gas cost since the start, in wei.',
      registers,
    })
    this.#lapsed = new Counter({
      name: 'lade_prover_lapsed_challenges_total',
      help: 'Challenges that were not answered while the contract could still check them.',
      labelNames: ['contract'],
      registers,
    })
  }

  get state(): FollowingState {
    return this.#state
  }

  /** @returns true when it was another state before. */
  become(state: FollowingState): boolean {
    const isNew = state !== this.#state
    this.#state = state
    return isNew
  }

  get waitingCalls(): number {
    return this.#waitingCalls
  }

  set waitingCalls(count: number) {
    this.#waitingCalls = count
  }

  /** Undefined before the first look at the chain. */
  get weiPerGas(): bigint | undefined {
    return this.#weiPerGas
  }

  set weiPerGas(weiPerGas: bigint) {
    this.#weiPerGas = weiPerGas
  }

  setDeals(
    contract: string,
    { proposed, active, belowGas }: Readonly<Record<'proposed' | 'active' | 'belowGas', number>>,
    bondedMicroUsdc: bigint,
  ): void {
    this.#deals.set({ contract, state: 'proposed' }, proposed)
    this.#deals.set({ contract, state: 'active' }, active)
    this.#belowGas.set({ contract }, belowGas)
    this.#bonded.set({ contract }, Number(bondedMicroUsdc) / MICRO_USDC)
  }

  countRefusal(contract: string, reason: DealRefusal): void {
    this.#refusals.inc({ contract, reason })
  }

  /** @param call - the function that was called. */
  countTransaction(contract: string, call: string, outcome: 'landed' | 'reverted' | 'lost', costWei = 0n): void {
    this.#transactions.inc({ contract, call, outcome })
    this.#gasWei.inc(Number(costWei))
  }

  countLapse(contract: string): void {
    this.#lapsed.inc({ contract })
  }
}

/** A gauge is known to what fills it as `this`. */
function gaugeOf(fill: (gauge: Gauge) => void): (this: Gauge) => void {
  return function (this: Gauge) {
    fill(this)
  }
}
