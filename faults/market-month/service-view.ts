import { type DealOnchain, dealEntry, dealList } from '@lade/core/wire'
import { type Caller, send } from '../caller.ts'
import type { MonthChain, MonthEvent } from './month-chain.ts'
import { flowsByDeal } from './usdc-table.ts'

const STATES = ['none', 'proposed', 'active', 'settled', 'slashed', 'withdrawn'] as const
/** The first state in which a deal is over. */
const FIRST_ENDED = 3

/** What the service says of every onchain deal of a caller, one request a deal, and of which it needs the copies. */
export async function viewOfService(url: URL, caller: Caller) {
  const onchain: DealOnchain[] = []
  const without: string[] = []
  const needed = new Set<string>()
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const answer = await send(url, 'GET', `/api/deals?limit=100${query}`, caller)
    const page = dealList.parse(JSON.parse(answer.body.toString()))
    for (const { syntheticDealId } of page.deals) {
      const one = await send(url, 'GET', `/api/deals/${syntheticDealId}`, caller)
      for (const copy of dealEntry.parse(JSON.parse(one.body.toString())).copies) {
        if (copy.onchain === null) {
          if (copy.onchainDealId !== null) without.push(copy.onchainDealId)
          continue
        }
        onchain.push(copy.onchain)
        if (copy.endedAt === null) needed.add(copy.onchain.dealId)
      }
    }
    cursor = page.nextCursor
  }
  return { onchain, without, needed }
}

/** What the chain says, in the form of the service's answers, by number. */
export async function viewOfChain(chain: MonthChain, events: readonly MonthEvent[]) {
  const [client = '0x'] = chain.accounts
  const deals = new Map<string, Omit<DealOnchain, 'chainId' | 'contract'>>()
  /** What the contract still holds of deals that are over. */
  let heldOfEnded = 0n
  for (const [dealId, flows] of flowsByDeal(events, client)) {
    const deal = await chain.deal(dealId)
    const endsAt = await chain.endsAt(dealId)
    if (deal.state >= FIRST_ENDED)
      heldOfEnded += deal.remaining + deal.extraPayment + deal.earned + deal.refundable + deal.bondLeft + deal.forfeited
    const state = STATES[deal.state] ?? 'none'
    if (state === 'none') throw new Error(`the deal ${dealId} is not there`)
    deals.set(String(dealId), {
      dealId: String(dealId),
      state: state === 'active' && deal.isEnding ? 'ending' : state,
      endsAt: endsAt === 0n ? null : new Date(Number(endsAt) * 1_000).toISOString(),
      escrowed: usdc(flows.putIn),
      paid: usdc(flows.paid),
      returned: usdc(flows.returned),
      bond: usdc(flows.bonded),
      forfeited: usdc(flows.forfeited),
    })
  }
  return { deals, heldOfEnded }
}

/** Sentences about deals that the two see differently. */
export function differences(
  { onchain, without }: Pick<Awaited<ReturnType<typeof viewOfService>>, 'onchain' | 'without'>,
  { deals }: Awaited<ReturnType<typeof viewOfChain>>,
): readonly string[] {
  const sentences = without.map((dealId) => `the service has no state of deal ${dealId}`)
  const seen = new Set<string>()
  for (const { chainId, contract, ...view } of onchain) {
    if (seen.has(view.dealId)) sentences.push(`the service has deal ${view.dealId} twice`)
    seen.add(view.dealId)
    const [own, other] = [view, deals.get(view.dealId)].map((one) => JSON.stringify(one, Object.keys(view).toSorted()))
    if (own !== other) sentences.push(`the service has ${own}, and the chain ${other}`)
  }
  for (const dealId of deals.keys()) if (!seen.has(dealId)) sentences.push(`the service does not show deal ${dealId}`)
  return sentences
}

/** The value of a metric; of one with labels that are not named, the sum. */
export function metricOf(metrics: string, name: string): number {
  const values = metrics.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
  return values.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

function usdc(microUsdc: bigint): string {
  const text = microUsdc.toString().padStart(7, '0')
  return `${text.slice(0, -6)}.${text.slice(-6)}`.replace(/\.?0+$/, '')
}
