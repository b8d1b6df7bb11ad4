import { encodePacked, type Hex, keccak256 } from 'viem'

/** How many leaves a proof is about; `CHALLENGED_LEAVES` of the contract. */
export const CHALLENGED_LEAVES = 5

/** What draws the leaves of one proving period. */
export interface DealChallenge {
  /** The `mixHash` of the deal's `seedBlock`, or what the beacon answers for it. */
  readonly seed: Hex
  readonly dealId: bigint
  /** The deal's `period` while the challenge is open. */
  readonly period: number
  readonly leafCount: bigint
}

/**
 * The leaves that the proof of a period must be about, in their order: what `challengedLeaves` of the contract answers. Two may be the same.
 *
 * @example
 * const leaves = challengedLeaves({ seed: block.mixHash, dealId: 41n, period: 3, leafCount: deal.leafCount })
 */
export function challengedLeaves({ seed, dealId, period, leafCount }: DealChallenge): bigint[] {
  return Array.from({ length: CHALLENGED_LEAVES }, (_, index) => {
    const types = ['bytes32', 'uint256', 'uint64', 'uint64'] as const
    return BigInt(keccak256(encodePacked(types, [seed, dealId, BigInt(period), BigInt(index)]))) % leafCount
  })
}
