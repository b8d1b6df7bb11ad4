import { marketplaceV1Abi } from '@lade/contracts/marketplace-v1'
import { encodeFunctionData, erc20Abi, maxUint256 } from 'viem'
import type { Address, Hash, MarketplaceCall } from '../../chain.ts'

/**
 * The gas that transactions may use. It is a formula and not an estimate, so that the same call is always the same transaction, and so
 * that a call signs while the chain is out of reach. What is not used is not paid.
 */
export interface GasLimits {
  /** A proposal of any number of deals, without the deals. */
  readonly propose: bigint
  readonly proposeEach: bigint
  readonly extend: bigint
  readonly withdraw: bigint
  /** Also of `slash`. */
  readonly settle: bigint
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

/** The transaction of a call, but for nonce and fees. */
export function transactionOf(call: MarketplaceCall, usdc: Address, gas: GasLimits): CallTransaction {
  const { contract: marketplace } = call
  switch (call.kind) {
    case 'propose': {
      const proposals = call.deals.map((deal) => ({
        prover: deal.prover,
        commp: `0x${deal.pieceRoot}` as const,
        pieceSize: BigInt(deal.paddedSizeBytes),
        duration: BigInt(deal.durationSeconds),
        totalPayment: deal.paymentMicroUsdc,
      }))
      const data = encodeFunctionData({ abi: marketplaceV1Abi, functionName: 'proposeDeals', args: [proposals] })
      return { to: marketplace, data, gas: gas.propose + gas.proposeEach * BigInt(proposals.length) }
    }
    case 'extend': {
      const args = [call.dealId, BigInt(call.extraSeconds), call.paymentMicroUsdc] as const
      const data = encodeFunctionData({ abi: marketplaceV1Abi, functionName: 'extendDeal', args })
      return { to: marketplace, data, gas: gas.extend }
    }
    case 'withdraw': {
      const data = encodeFunctionData({ abi: marketplaceV1Abi, functionName: 'withdrawDeal', args: [call.dealId] })
      return { to: marketplace, data, gas: gas.withdraw }
    }
    case 'settle':
    case 'slash': {
      const data = encodeFunctionData({ abi: marketplaceV1Abi, functionName: call.kind, args: [call.dealId] })
      return { to: marketplace, data, gas: gas.settle }
    }
    case 'approve': {
      // The marketplace takes USDC of nobody but its caller, and nobody can replace it.
      const args = [marketplace, maxUint256] as const
      return { to: usdc, data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args }), gas: gas.approve }
    }
  }
}
