import { marketplaceAbi, marketplaceV1Abi } from '@lade/contracts'
import { dealTermsHash } from '@lade/contracts/challenge'
import { leafCount, paddedSizeBytes } from '@lade/core/piece'
import type { Account, Address, Hex } from 'viem'
import { parsePieceName } from '../pieces/piece-name.ts'
import type { TestPiece } from './harness.ts'
import type { TestChain } from './test-chain.ts'

export const PAY_OF_PERIOD = 1000n
/** The default is that of a block, and many deals take more than what a node estimates for a transaction. */
const GAS = 25_000_000n

export type ContractVersion = 1 | 2

/** As a contract takes it; the first version takes no leaf count and no bond. */
export interface Proposal {
  readonly prover: Hex
  readonly commp: Hex
  readonly pieceSize: bigint
  readonly leafCount: bigint
  readonly duration: bigint
  readonly totalPayment: bigint
  readonly bond: bigint
}

export interface TestMarketOptions {
  readonly chain: TestChain
  readonly version: ContractVersion
  readonly address: Address
  readonly periodSeconds: number
  /** Of the deals. */
  readonly client: Account
}

export type DealEventName = 'DealAccepted' | 'ChallengeOpened' | 'PeriodProven' | 'PeriodMissed'

/** A marketplace of some version, as its client and anybody sees it. */
export type TestMarket = ReturnType<typeof openTestMarket>

/** Calls are made in blocks that the caller makes. */
export function openTestMarket({ chain, version, address, periodSeconds, client }: TestMarketOptions) {
  const first = { address, abi: marketplaceV1Abi, chain: null } as const
  const second = { address, abi: marketplaceAbi, chain: null } as const
  const deal = async (dealId: bigint) => {
    const args = [dealId] as const
    return version === 1
      ? await chain.readContract({ ...first, functionName: 'deals', args })
      : await chain.readContract({ ...second, functionName: 'deals', args })
  }

  return {
    address,
    version,
    deal,
    lastDealId: () => chain.readContract({ ...first, functionName: 'lastDealId' }),

    /** What {@link propose} proposes. */
    proposal(prover: Hex, piece: TestPiece, periods: number): Proposal {
      const name = parsePieceName(piece.pieceCid)
      if (name === undefined) throw new TypeError('the piece has no name')
      return {
        prover,
        commp: `0x${Buffer.from(name.root).toString('hex')}`,
        pieceSize: BigInt(paddedSizeBytes(name.rawSizeBytes)),
        leafCount: BigInt(leafCount(name.rawSizeBytes)),
        duration: BigInt(periodSeconds * periods),
        totalPayment: PAY_OF_PERIOD * BigInt(periods),
        bond: 0n,
      }
    },

    propose(proposals: readonly Proposal[]): Promise<Hex> {
      const call = { functionName: 'proposeDeals', args: [proposals], account: client, gas: GAS } as const
      return version === 1 ? chain.writeContract({ ...first, ...call }) : chain.writeContract({ ...second, ...call })
    },

    /** By its prover, whatever its terms are. */
    async accept(dealId: bigint, account: Account, nonce: number): Promise<Hex> {
      const options = { functionName: 'acceptDeal', account, nonce, gas: 150_000n } as const
      if (version === 1) return chain.writeContract({ ...first, ...options, args: [dealId] })
      const {
        commp,
        pieceSize,
        leafCount: leaves,
        ...found
      } = await chain.readContract({
        ...second,
        functionName: 'deals',
        args: [dealId],
      })
      const hash = dealTermsHash({
        ...found,
        ...{ chainId: await chain.getChainId(), marketplace: address, dealId, commp, pieceSize, leafCount: leaves },
        ...{ durationSeconds: found.duration, payment: found.remaining, extraDurationSeconds: found.extraDuration },
      })
      return chain.writeContract({ ...second, ...options, args: [dealId, hash] })
    },

    /** @param maxPriorityFeePerGas - offered for a place at the front of the block. */
    extend(dealId: bigint, seconds: bigint, payment: bigint, maxPriorityFeePerGas: bigint): Promise<Hex> {
      const args = [dealId, seconds, payment] as const
      const fees = { maxPriorityFeePerGas, maxFeePerGas: 2n * maxPriorityFeePerGas }
      return chain.writeContract({ ...first, functionName: 'extendDeal', args, account: client, ...fees })
    },

    /** Gives notice; the second version only. */
    end(dealId: bigint): Promise<Hex> {
      return chain.writeContract({ ...second, functionName: 'endDeal', args: [dealId], account: client })
    },

    /** As anybody may. */
    slash(dealId: bigint): Promise<Hex> {
      return chain.writeContract({ ...first, functionName: 'slash', args: [dealId], account: client })
    },

    /** How many events of a name there were; of all deals, unless one is named. */
    async countEvents(eventName: DealEventName, dealId?: bigint): Promise<number> {
      const range = { fromBlock: 0n, ...(dealId !== undefined && { args: { dealId } }) } as const
      const events =
        version === 1
          ? await chain.getContractEvents({ ...first, eventName, ...range })
          : await chain.getContractEvents({ ...second, eventName, ...range })
      return events.length
    },
  }
}
