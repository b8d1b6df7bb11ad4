import { marketplaceV1Abi } from '@lade/contracts/marketplace-v1'
import { decodeFunctionResult, encodeFunctionData } from 'viem'
import type { Address, MarketplaceDeal, MarketplaceDealState } from '../../chain.ts'
import { callContract, readQuantity } from './contract-call.ts'
import { ask, askOnce, chainOffline, type JsonRpc } from './json-rpc.ts'

/** The states of the contract in its order. */
const STATES: readonly (MarketplaceDealState | undefined)[] = [
  undefined,
  'proposed',
  'active',
  'settled',
  'slashed',
  'withdrawn',
]

interface Terms {
  readonly periodMs: number
  readonly acceptanceMs: number
}

/** Reads deals of one marketplace. What the contract never changes is asked once. */
export function openDealReader(
  rpc: JsonRpc,
  marketplace: Address,
): (dealId: bigint) => Promise<MarketplaceDeal | undefined> {
  const durationMs = async (functionName: 'provingPeriod' | 'acceptanceWindow'): Promise<number> => {
    const data = encodeFunctionData({ abi: marketplaceV1Abi, functionName })
    return Number(readQuantity(await callContract(rpc, { to: marketplace, data }))) * 1000
  }
  const terms = askOnce<Terms>(async () => {
    const [periodMs, acceptanceMs] = await Promise.all([durationMs('provingPeriod'), durationMs('acceptanceWindow')])
    return { periodMs, acceptanceMs }
  })

  return async (dealId) => {
    const data = encodeFunctionData({ abi: marketplaceV1Abi, functionName: 'deals', args: [dealId] })
    const [{ periodMs, acceptanceMs }, block, answer] = await Promise.all([
      terms(),
      ask(rpc, 'eth_getBlockByNumber', ['latest', false]),
      callContract(rpc, { to: marketplace, data }),
    ])
    const deal = decode(answer)
    const state = STATES[deal.state]
    if (state === undefined) return undefined
    const { timestamp }: { timestamp?: unknown } = Object(block)
    const reachedTermEndsAt = (deal.since + deal.duration) * 1000
    return {
      state,
      acceptableUntil: deal.since * 1000 + acceptanceMs,
      accountedUntil: deal.accountedUntil * 1000,
      reachedTermEndsAt,
      endsAt: reachedTermEndsAt + deal.extraDuration * 1000,
      missesInARow: deal.missesInARow,
      refundableMicroUsdc: deal.refundable,
      periodMs,
      asOf: Number(readQuantity(timestamp)) * 1000,
    }
  }
}

function decode(answer: `0x${string}` | undefined) {
  if (answer === undefined || answer === '0x') throw chainOffline(new Error('the node returned no deal'))
  return decodeFunctionResult({ abi: marketplaceV1Abi, functionName: 'deals', data: answer })
}
