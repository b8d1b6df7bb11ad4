import { marketplaceAbi } from '@lade/contracts/marketplace'
import { marketplaceV1Abi } from '@lade/contracts/marketplace-v1'
import { encodeFunctionData, erc20Abi, maxUint256 } from 'viem'
import type { Address, Hash, MarketplaceCall, MarketplaceVersion } from '../../chain.ts'

/**
 * The gas that transactions may use at least, by formula: an estimate is of the state of now, and what is in a block before it can raise
 * the cost. What is not used is not paid.
 */
export interface GasLimits {
  /** A proposal of any number of deals, without the deals. */
  readonly propose: bigint
  readonly proposeEach: bigint
  readonly extend: bigint
  readonly withdraw: bigint
  /** Also of `slash`. */
  readonly settle: bigint
  readonly end: bigint
  readonly approve: bigint
  /** A transaction without effect. */
  readonly empty: bigint
}

/** What of a transaction depends on its call. */
export interface CallTransaction {
  readonly to: Address
  readonly data: Hash
  readonly gas: bigint
}

/** What the transaction of a call depends on besides the call. */
export interface CallSurroundings {
  readonly usdc: Address
  /** Of the contract that is called. */
  readonly version: MarketplaceVersion
  readonly gas: GasLimits
}

/** The transaction of a call, but for nonce and fees. @throws {TypeError} for a call that this version does not have. */
export function transactionOf(call: MarketplaceCall, { usdc, version, gas }: CallSurroundings): CallTransaction {
  const { contract: marketplace } = call
  switch (call.kind) {
    case 'propose': {
      const proposals = call.deals.map((deal) => ({
        prover: deal.prover,
        commp: `0x${deal.pieceRoot}` as const,
        pieceSize: BigInt(deal.paddedSizeBytes),
        duration: BigInt(deal.durationSeconds),
        totalPayment: deal.paymentMicroUsdc,
        leafCount: BigInt(deal.leafCount),
        bond: deal.bondMicroUsdc,
      }))
      const functionName = 'proposeDeals'
      const data =
        version === 1
          ? encodeFunctionData({ abi: marketplaceV1Abi, functionName, args: [proposals] })
          : encodeFunctionData({ abi: marketplaceAbi, functionName, args: [proposals] })
      return { to: marketplace, data, gas: gas.propose + gas.proposeEach * BigInt(proposals.length) }
    }
    case 'extend': {
      const args = [call.dealId, BigInt(call.extraSeconds), call.paymentMicroUsdc] as const
      const data = encodeFunctionData({ abi: marketplaceAbi, functionName: 'extendDeal', args })
      return { to: marketplace, data, gas: gas.extend }
    }
    case 'withdraw': {
      const data = encodeFunctionData({ abi: marketplaceAbi, functionName: 'withdrawDeal', args: [call.dealId] })
      return { to: marketplace, data, gas: gas.withdraw }
    }
    case 'settle':
    case 'slash': {
      const data = encodeFunctionData({ abi: marketplaceAbi, functionName: call.kind, args: [call.dealId] })
      return { to: marketplace, data, gas: gas.settle }
    }
    case 'end': {
      if (version === 1) throw new TypeError('a marketplace of version 1 ends no deals')
      const data = encodeFunctionData({ abi: marketplaceAbi, functionName: 'endDeal', args: [call.dealId] })
      return { to: marketplace, data, gas: gas.end }
    }
    case 'approve': {
      // The marketplace takes USDC of nobody but its caller, and nobody can replace it.
      const args = [marketplace, maxUint256] as const
      return { to: usdc, data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args }), gas: gas.approve }
    }
  }
}
