import { marketplaceAbi } from '@lade/contracts/marketplace'
import { marketplaceV1Abi } from '@lade/contracts/marketplace-v1'
import { decodeFunctionResult, encodeFunctionData } from 'viem'
import type { Address, MarketplaceDeal, MarketplaceDealState, MarketplaceVersion } from '../../chain.ts'
import { callContract, readQuantity } from './contract-call.ts'
import { ask, askOnce, chainOffline, type JsonRpc } from './json-rpc.ts'

/** The states of the contract in its order, of all versions. */
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

/** What is read of a deal of any version; times and durations in seconds. */
interface StoredDeal {
  readonly state: number
  readonly since: number
  readonly duration: number
  readonly extraDuration: number
  readonly accountedUntil: number
  readonly missesInARow: number
  readonly refundable: bigint
  /** Of version 2. */
  readonly isEnding?: boolean
  readonly forfeited?: bigint
}

export interface DealReaderOptions {
  readonly rpc: JsonRpc
  readonly marketplace: Address
  readonly version: () => Promise<MarketplaceVersion>
}

/** Reads deals of one marketplace. What the contract never changes is asked once. */
export function openDealReader({
  rpc,
  marketplace,
  version,
}: DealReaderOptions): (dealId: bigint) => Promise<MarketplaceDeal | undefined> {
  const durationMs = async (functionName: 'provingPeriod' | 'acceptanceWindow'): Promise<number> => {
    const data = encodeFunctionData({ abi: marketplaceAbi, functionName })
    return Number(readQuantity(await callContract(rpc, { to: marketplace, data }))) * 1000
  }
  const terms = askOnce<Terms>(async () => {
    const [periodMs, acceptanceMs] = await Promise.all([durationMs('provingPeriod'), durationMs('acceptanceWindow')])
    return { periodMs, acceptanceMs }
  })

  return async (dealId) => {
    const data = encodeFunctionData({ abi: marketplaceAbi, functionName: 'deals', args: [dealId] })
    const [itsVersion, { periodMs, acceptanceMs }, block, answer] = await Promise.all([
      version(),
      terms(),
      ask(rpc, 'eth_getBlockByNumber', ['latest', false]),
      callContract(rpc, { to: marketplace, data }),
    ])
    const deal = decode(answer, itsVersion)
    const state = STATES[deal.state]
    if (state === undefined) return undefined
    const { timestamp }: { timestamp?: unknown } = Object(block)
    const reachedTermEndsAt = (deal.since + deal.duration) * 1000
    return {
      state: state === 'active' && deal.isEnding === true ? 'ending' : state,
      acceptableUntil: deal.since * 1000 + acceptanceMs,
      accountedUntil: deal.accountedUntil * 1000,
      reachedTermEndsAt,
      endsAt: reachedTermEndsAt + deal.extraDuration * 1000,
      missesInARow: deal.missesInARow,
      refundableMicroUsdc: deal.refundable + (deal.forfeited ?? 0n),
      periodMs,
      asOf: Number(readQuantity(timestamp)) * 1000,
    }
  }
}

function decode(answer: `0x${string}` | undefined, version: MarketplaceVersion): StoredDeal {
  if (answer === undefined || answer === '0x') throw chainOffline(new Error('the node returned no deal'))
  return version === 1
    ? decodeFunctionResult({ abi: marketplaceV1Abi, functionName: 'deals', data: answer })
    : decodeFunctionResult({ abi: marketplaceAbi, functionName: 'deals', data: answer })
}
