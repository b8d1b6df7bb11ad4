import { createClient, http, parseAbi, publicActions } from 'viem'
import type { DevnetFacts } from './own-devnet.ts'

const ABI = parseAbi([
  'struct Deal { address client; address prover; uint8 state; bool isEnding; uint8 bondState; uint8 missesInARow; uint32 misses; uint32 period; uint40 since; uint40 duration; uint40 accountedUntil; uint40 seedBlock; uint40 extraDuration; bytes32 commp; uint64 pieceSize; uint64 leafCount; uint96 remaining; uint96 extraPayment; uint96 earned; uint96 refundable; uint96 bond; uint96 bondLeft; uint96 forfeited; }',
  'function deals(uint256 dealId) view returns (Deal)',
  'function endsAt(uint256 dealId) view returns (uint256)',
  'event PeriodProven(uint256 indexed dealId, uint32 period, uint256 pay)',
])
const STATES = ['none', 'proposed', 'active', 'settled', 'slashed', 'withdrawn']

/** A deal as the contract has it. */
export interface ChainDeal {
  readonly state: string
  readonly client: string
  readonly prover: string
  /** The root of the piece's tree: 0x and 64 hex digits. */
  readonly root: string
  readonly paddedSizeBytes: number
  readonly durationSeconds: number
  /** In units of 10⁻⁶ USDC. */
  readonly escrow: bigint
  /** Seconds since 1970; 0 while it is not accepted. */
  readonly endsAt: number
  /** How many periods were proven. */
  readonly provenPeriods: number
}

/** Reads deals from the contract, and asks nobody else. */
export function openMarketplace({ chain, marketplace }: DevnetFacts) {
  const client = createClient({ transport: http(chain.rpcUrl), cacheTime: 0 }).extend(publicActions)
  const contract = { address: marketplace, abi: ABI } as const
  return {
    async deal(id: string): Promise<ChainDeal> {
      const dealId = BigInt(id)
      // All as of one block.
      const blockNumber = await client.getBlockNumber()
      const request = { ...contract, args: [dealId], blockNumber } as const
      const events = {
        ...contract,
        eventName: 'PeriodProven',
        args: { dealId },
        fromBlock: 0n,
        toBlock: blockNumber,
      } as const
      const [deal, endsAt, proofs] = await Promise.all([
        client.readContract({ ...request, functionName: 'deals' }),
        client.readContract({ ...request, functionName: 'endsAt' }),
        client.getContractEvents(events),
      ])
      return {
        state: STATES[deal.state] ?? 'unknown',
        client: deal.client,
        prover: deal.prover,
        root: deal.commp,
        paddedSizeBytes: Number(deal.pieceSize),
        durationSeconds: deal.duration + deal.extraDuration,
        escrow: deal.remaining + deal.earned + deal.extraPayment,
        endsAt: Number(endsAt),
        provenPeriods: proofs.length,
      }
    },
  }
}
