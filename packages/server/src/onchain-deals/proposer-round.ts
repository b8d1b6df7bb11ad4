import type { Logger } from 'pino'
import type { Address, BlockPlace, Chain, Marketplace, MarketplaceContract } from '../chain/chain.ts'
import type { ChainRecords, EscrowRecords } from '../records/record-store.ts'
import type { Observations } from './observations.ts'

/** What a deal is priced by. */
export interface PricedTerm {
  readonly paddedSizeBytes: number
  readonly durationSeconds: number
}

export interface DealProposerDeps {
  readonly records: { readonly chain: ChainRecords; readonly escrow: EscrowRecords }
  readonly chain: Chain
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly log: Logger
  /** The account of each prover that deals are made with, by the prover's name. */
  readonly accounts: ReadonlyMap<string, Address>
  /** What a deal, or more time of one, is paid with, in units of 10⁻⁶ USDC. */
  readonly priceOf: (term: PricedTerm) => bigint
  /** The most that a transaction offers for a unit of gas, in wei. Above it nothing new is signed. */
  readonly feeCap: bigint
  /** The bond that provers put up, in percent of the pay of a deal. Contracts of version 1 have none. @default 0 */
  readonly bondPercent?: number
  /** The most that is put in escrow on a UTC day, in units of 10⁻⁶ USDC. @default no limit */
  readonly dealMicroUsdcPerDay?: bigint | undefined
  /** How many blocks have to have a deal, the one that holds it included, before callers are told. @default 1 */
  readonly confirmations?: number
  /** How many blocks come after one that no reorganisation takes back. @default 64 */
  readonly finalityBlocks?: number
  /** The most deals that one transaction proposes. @default 40 */
  readonly maxBatch?: number
  /** After so long without a place in a block a transaction offers more. @default 60_000 */
  readonly raiseAfterMs?: number
  /** Deals that are too short are extended when they end within this time. @default 2 days */
  readonly extendWithinMs?: number
  /** How long until the next round when something is on its way. @default 1_000 */
  readonly pollMs?: number
  /** How long when nothing is. @default 5_000 */
  readonly idleMs?: number
}

/** What transactions wait for: a lower fee, the budget of the next day, or a token that pays again. */
export type WaitCause = 'fee' | 'budget' | 'token'

/** A contract that has deals of the account. */
export interface RoundContract extends MarketplaceContract {
  /** As records name it: with its chain. */
  readonly id: string
  /** False, and noted, while the token refuses payments from the contract; asked once in a round. @throws {LadeError} `chain_offline`. */
  canPay(): Promise<boolean>
}

/** What the steps of one round share. */
export interface ProposerRound extends Required<Omit<DealProposerDeps, 'dealMicroUsdcPerDay'>> {
  readonly dealMicroUsdcPerDay: bigint | undefined
  readonly transactions: ChainRecords
  readonly escrow: EscrowRecords
  readonly marketplace: Marketplace
  /** The account, as records name it: with its chain. */
  readonly accountId: string
  /** The first is for new deals. */
  readonly contracts: readonly [RoundContract, ...RoundContract[]]
  /** The newest block, as of the beginning of the round. */
  readonly head: BlockPlace
  /** How many transactions of the account are in blocks. */
  readonly confirmedNonce: number
  /** When this process last saw the chain grow; undefined when it did not yet. */
  readonly grewAt: number | undefined
  /** True when the head is the one of the round before. */
  readonly isSameHead: boolean
  /** Grows by one each round. */
  readonly number: number
  readonly observations: Observations
  /** Notes what keeps transactions from going on, for people; it goes to the log when it is new. */
  trouble(sentence: string): void
  /** Notes that transactions wait for something, and why. */
  wait(cause: WaitCause, sentence: string): void
}
