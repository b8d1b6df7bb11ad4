import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { marketMetrics } from './market-metrics.ts'
import type { PlacedCounters } from './service.ts'

const escrow = {
  deals: [
    { state: 'active', count: 3 },
    { state: 'withdrawn', count: 1 },
  ],
  paidInMicroUsdc: 10_500_000,
  paidOutMicroUsdc: 4_000_000,
  returnedMicroUsdc: 500_000,
  bondMicroUsdc: 2_000_000,
  bondReleasedMicroUsdc: 250_000,
  bondForfeitedMicroUsdc: 750_000,
} as const

async function linesOf(market: PlacedCounters['market']): Promise<readonly string[]> {
  const registry = new Registry()
  marketMetrics(registry, () => ({ market }))
  const text = await registry.metrics()
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}

test('say what the contract holds, what was spent today, and what transactions wait for', async () => {
  const market = { waits: ['budget'], escrow, spentTodayMicroUsdc: 250_000, budgetMicroUsdc: 5_000_000n } as const
  expect(await linesOf(market)).toEqual([
    'lade_deal_escrow_usdc 6',
    'lade_deal_paid_usdc 4',
    'lade_deal_returned_usdc 0.5',
    'lade_deal_bond_usdc 1',
    'lade_deal_forfeited_usdc 0.75',
    'lade_deal_spent_today_usdc 0.25',
    'lade_deal_budget_usdc 5',
    'lade_onchain_deals{state="active"} 3',
    'lade_onchain_deals{state="withdrawn"} 1',
    'lade_chain_waiting{cause="fee"} 0',
    'lade_chain_waiting{cause="budget"} 1',
    'lade_chain_waiting{cause="token"} 0',
  ])
})

test('are absent without deals on a chain, and in a process that makes none', async () => {
  expect(await linesOf(undefined)).toEqual([])
  const idle = { waits: [], escrow: undefined, spentTodayMicroUsdc: undefined, budgetMicroUsdc: 5_000_000n }
  expect(await linesOf(idle)).toEqual([])
})
