import { Gauge, type Registry } from 'prom-client'
import type { PlacedCounters } from './service.ts'

const MICRO = 1_000_000
const CAUSES = ['fee', 'budget', 'token'] as const

/**
 * What onchain deals cost and what they hold. Only the process that makes deals knows it; the others have none of these metrics, nor has a
 * service without a marketplace.
 */
export function marketMetrics(registry: Registry, placed: () => Pick<PlacedCounters, 'market'>): void {
  const registers = [registry]
  /** A gauge in USDC; absent while `amountOf` knows nothing. */
  const usdcGauge = (
    name: string,
    help: string,
    amountOf: (market: NonNullable<PlacedCounters['market']>) => number | undefined,
  ) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const { market } = placed()
        const microUsdc = market?.escrow === undefined ? undefined : amountOf(market)
        this.remove()
        if (microUsdc !== undefined) this.set(microUsdc / MICRO)
      },
    })
  usdcGauge('lade_deal_escrow_usdc', 'USDC that the marketplace holds for the deals of this service.', ({ escrow }) =>
    escrow === undefined ? undefined : escrow.paidInMicroUsdc - escrow.paidOutMicroUsdc - escrow.returnedMicroUsdc,
  )
  usdcGauge(
    'lade_deal_paid_usdc',
    'USDC that the marketplace has paid to provers for the deals of this service, since the first.',
    ({ escrow }) => escrow?.paidOutMicroUsdc,
  )
  usdcGauge(
    'lade_deal_returned_usdc',
    'USDC that the marketplace has given back to this service, since the first deal.',
    ({ escrow }) => escrow?.returnedMicroUsdc,
  )
  usdcGauge(
    'lade_deal_bond_usdc',
    'USDC that the marketplace holds as bonds of provers for the deals of this service.',
    ({ escrow }) => escrow && escrow.bondMicroUsdc - escrow.bondReleasedMicroUsdc - escrow.bondForfeitedMicroUsdc,
  )
  usdcGauge(
    'lade_deal_forfeited_usdc',
    'USDC of the bonds of provers that this service got because proofs were missed, since the first deal.',
    ({ escrow }) => escrow?.bondForfeitedMicroUsdc,
  )
  usdcGauge(
    'lade_deal_spent_today_usdc',
    'USDC that was put in escrow on this UTC day.',
    ({ spentTodayMicroUsdc }) => spentTodayMicroUsdc,
  )
  usdcGauge('lade_deal_budget_usdc', 'LADE_DEAL_USDC_PER_DAY; absent without it.', ({ budgetMicroUsdc }) =>
    budgetMicroUsdc === undefined ? undefined : Number(budgetMicroUsdc),
  )
  new Gauge({
    name: 'lade_onchain_deals',
    help: 'Deals of this service in the marketplace, by state.',
    labelNames: ['state'],
    registers,
    collect() {
      this.reset()
      for (const { state, count } of placed().market?.escrow?.deals ?? []) this.set({ state }, count)
    },
  })
  new Gauge({
    name: 'lade_chain_waiting',
    help: '1 while transactions wait for a lower fee, the budget of the next day, or a token that pays again, by cause.',
    labelNames: ['cause'],
    registers,
    collect() {
      this.reset()
      const { market } = placed()
      if (market?.escrow === undefined) return
      for (const cause of CAUSES) this.set({ cause }, market.waits.includes(cause) ? 1 : 0)
    },
  })
}
