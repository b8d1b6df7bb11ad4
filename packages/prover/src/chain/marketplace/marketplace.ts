import type { LeafProof } from '@lade/core/piece'
import type { Log } from 'viem'
import type { EncodedCall, Refused } from '../chain-account.ts'
import type { CallKind, Deal, Head, Terms } from '../deal.ts'

/** What the proof of a deal's period has to be about. */
export interface Challenge {
  /** In the order in which they have to be proved. */
  readonly leafIndexes: readonly number[]
  /** The RLP header of the block that draws them, if the contract reads it. */
  readonly header?: `0x${string}`
}

/** The proof of a deal's period. */
export interface DealProof {
  readonly deal: Deal
  readonly challenge: Challenge
  /** Of the challenged leaves, in their order. */
  readonly leaves: readonly LeafProof[]
}

/** What one transaction asks of a contract; about one deal, unless the contract {@link Marketplace.takesMany}. */
export type ProverCall =
  | { readonly kind: 'accept' | 'open' | 'settle'; readonly deals: readonly Deal[] }
  | { readonly kind: 'prove'; readonly proofs: readonly DealProof[] }

/**
 * A marketplace contract of some version, as one prover sees it.
 *
 * Every method throws viem's `BaseError` when the chain cannot be asked.
 */
export interface Marketplace {
  /** In lower case. Together with the number of a deal, it names the deal. */
  readonly address: `0x${string}`
  readonly version: number
  readonly terms: Terms
  /** Deals number from it. */
  readonly firstDealId: bigint
  /** What the calls use for one deal, with a piece of 1 GiB: the expectation before the first of each. */
  readonly expectedGas: Readonly<Record<CallKind, bigint>>
  /** True when one transaction can serve many deals in that way. */
  takesMany(kind: CallKind): boolean
  /** The newest deal; below {@link firstDealId} before the first. */
  lastDealId(): Promise<bigint>
  /** Deals by their ids, in that order, some hundred at a time; an id that was never given is a deal in the state `none`. */
  deals(dealIds: readonly bigint[]): AsyncGenerator<Deal[]>
  /** The challenge of the period at hand, or the contract's reason why there is none. */
  challengeOf(deal: Deal, head: Head): Promise<Challenge | Refused>
  encode(call: ProverCall): EncodedCall
  /** The deals of a call for many that the contract left out, with its reasons; from the logs of the transaction. */
  skippedIn(logs: readonly Log[]): readonly Skipped[]
  /**
   * Lets the contract take bonds from the account.
   *
   * @param bond - what it is to take now. @param most - what it may take in all before it is asked again.
   * @returns the call that allows it, undefined when it is allowed already, or why the account cannot put it up.
   */
  allowBond(bond: bigint, most: bigint): Promise<EncodedCall | Refused | undefined>
}

/** A deal that a call for many did nothing about. */
export interface Skipped {
  readonly dealId: bigint
  /** The name of the error that a call for this deal alone would give. */
  readonly reason: string
}
