/** `0x` and 64 hex digits. */
export type Hash = `0x${string}`
/** An account or contract: `0x` and 40 hex digits, in the mixed case of EIP-55. */
export type Address = `0x${string}`

/** A deal to be proposed on the chain. */
export interface DealProposal {
  /** The provider's account. */
  readonly prover: Address
  /** The root of the piece tree, 64 lower-case hex digits. */
  readonly pieceRoot: string
  /** Bytes after padding, a power of two. */
  readonly paddedSizeBytes: number
  /** Leaves of 32 bytes with data, from the first on; challenges are about these. Version 1 challenges all leaves of the padded size. */
  readonly leafCount: number
  readonly durationSeconds: number
  /** In units of 10⁻⁶ USDC. */
  readonly paymentMicroUsdc: bigint
  /** What the prover puts up when it accepts, and loses when it misses proofs. Version 1 has no bonds. */
  readonly bondMicroUsdc: bigint
}

/** What the operator asks of a marketplace contract, in one transaction. */
export type MarketplaceCall = { readonly contract: Address } & (
  | { readonly kind: 'propose'; readonly deals: readonly DealProposal[] }
  | {
      readonly kind: 'extend'
      readonly dealId: bigint
      readonly extraSeconds: number
      readonly paymentMicroUsdc: bigint
    }
  /** Takes back the escrow of a deal that was not accepted. */
  | { readonly kind: 'withdraw'; readonly dealId: bigint }
  /** Accounts for all that has passed, pays both sides, and closes the deal when its term is over. */
  | { readonly kind: 'settle'; readonly dealId: bigint }
  /** Accounts for periods without a proof, which ends the deal after three in a row, and pays both sides. */
  | { readonly kind: 'slash'; readonly dealId: bigint }
  /** Ends an active deal after a notice of one proving period, and takes back the escrow for later. Not in version 1. */
  | { readonly kind: 'end'; readonly dealId: bigint }
  /** Lets the contract take USDC of the account, without which no deal can be proposed or extended. */
  | { readonly kind: 'approve' }
)

/** What a transaction offers for its place in a block, in wei. */
export interface Fees {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  /** False on a chain whose blocks have no base fee, where `maxFeePerGas` is the price that is paid. @default true */
  readonly hasBaseFee?: boolean
}

/** A signed transaction, ready to be sent. Sending it twice has the effect of sending it once. */
export interface SignedTransaction {
  readonly hash: Hash
  /** As it goes to the network. */
  readonly raw: Hash
}

/**
 * What the network said to a transaction. `accepted`: it has it, now or from before. `nonce_used`: another one with this nonce is in a
 * block, or this one is. `underpriced`: it offers too little, by itself or as a replacement. `refused`: it is not taken as things are,
 * for want of funds or as malformed; that is no promise that nobody ever takes it.
 */
export type SendOutcome =
  | { readonly outcome: 'accepted' | 'nonce_used' | 'underpriced' }
  | { readonly outcome: 'refused'; readonly reason: string }

/** A block, by its place and its name. */
export interface BlockPlace {
  readonly number: number
  readonly hash: Hash
}

/** Where a transaction is. `dealIds` are those that it proposed, in the order of the proposals. */
export type TransactionPlace =
  | { readonly place: 'unknown' | 'pool' }
  | {
      readonly place: 'block'
      readonly block: BlockPlace
      readonly succeeded: boolean
      readonly dealIds: readonly bigint[]
    }

/**
 * `proposed`: no prover has accepted it. `active`: accepted, and not closed. `ending`: the same, and the client has given notice. `withdrawn`: taken back before anybody accepted it. `settled`:
 * its term is over. `slashed`: ended by missed proofs. Of the last two either side may still be owed something.
 */
export type MarketplaceDealState = 'proposed' | 'active' | 'ending' | 'withdrawn' | 'settled' | 'slashed'

/** A deal as the newest block has it. Times are epoch milliseconds. Periods that have passed since somebody touched it last are not counted. */
export interface MarketplaceDeal {
  readonly state: MarketplaceDealState
  /** Until when it can be accepted. */
  readonly acceptableUntil: number
  /** Where the period at hand begins; 0 before it is accepted. */
  readonly accountedUntil: number
  /** The end of the term as far as it was reached, and with the extensions behind it. */
  readonly reachedTermEndsAt: number
  readonly endsAt: number
  readonly missesInARow: number
  /** What the contract owes the client and has not paid, of the escrow and of the bond. */
  readonly refundableMicroUsdc: bigint
  /** How long a proving period is. */
  readonly periodMs: number
  /** The time of the newest block. */
  readonly asOf: number
}

/** Something that the contract says about a deal, of whoever it is. Amounts are in units of 10⁻⁶ USDC. */
export type DealEvent = { readonly dealId: bigint } & (
  | { readonly kind: 'proposed'; readonly client: Address; readonly microUsdc: bigint }
  | { readonly kind: 'accepted'; readonly endsAt: number; readonly bondMicroUsdc: bigint }
  /** The client gave notice, and the term ends then. */
  | { readonly kind: 'ending'; readonly endsAt: number }
  | { readonly kind: 'extended'; readonly extraMs: number; readonly microUsdc: bigint }
  | { readonly kind: 'withdrawn' | 'proven' | 'missed' | 'slashed'; readonly microUsdc: bigint }
  | { readonly kind: 'settled' }
  /** A side got what was due to it: of the escrow, and of the bond. */
  | { readonly kind: 'paid'; readonly to: Address; readonly microUsdc: bigint; readonly bondMicroUsdc: bigint }
)

/** The versions of the marketplace contract that can be called. A contract that does not say its version is the first. */
export type MarketplaceVersion = 1 | 2

/**
 * One marketplace contract that has deals of the operator's account. Its deals are named by the chain, its address and their number.
 *
 * Version 1 cannot end an active deal; the client of a deal of version 2 can, with notice.
 */
export interface MarketplaceContract {
  readonly address: Address
  /** As the contract says. @throws {LadeError} `chain_offline`. */
  version(): Promise<MarketplaceVersion>
  /** The calls that have to be in a block before deals can be; mostly none. @throws {LadeError} `chain_offline`. */
  prepare(): Promise<readonly MarketplaceCall[]>
  /** A deal of the contract as of the newest block; undefined when there is none. @throws {LadeError} `chain_offline`. */
  deal(dealId: bigint): Promise<MarketplaceDeal | undefined>
  /**
   * What the contract said in these blocks, both included, oldest first.
   *
   * @throws {LadeError} `chain_offline`, also when the node does not have these blocks, or returns the events of fewer at a time.
   */
  events(blocks: { readonly from: number; readonly to: number }): Promise<readonly DealEvent[]>
  /** False while the token refuses payments from the contract to the account, as when it froze either. @throws {LadeError} `chain_offline`. */
  canPay(): Promise<boolean>
}

/** The contract for new deals, and those that deals were made with before. */
export type MarketplaceContracts = readonly [MarketplaceContract, ...MarketplaceContract[]]

/**
 * The operator's account, and the marketplace contracts that it has deals with. It signs, sends and finds transactions; which ones, and
 * with which nonce, is for `onchain-deals/` to decide.
 *
 * @example
 * const nonce = await marketplace.confirmedNonce()
 * const call = { kind: 'approve', contract: marketplace.contracts[0].address }
 * const { hash, raw } = await marketplace.sign({ call, nonce, fees: await marketplace.fees() })
 * await marketplace.send(raw) // { outcome: 'accepted' }
 * await marketplace.find(hash) // { place: 'pool' }, and later { place: 'block', … }
 */
export interface Marketplace {
  /** The operator's account, which signs and pays. */
  readonly account: Address
  /** The first is for new deals. */
  readonly contracts: MarketplaceContracts
  /** What the network asks for now. @throws {LadeError} `chain_offline`. */
  fees(): Promise<Fees>
  /** How many transactions of the account are in blocks: the nonce of the next. @throws {LadeError} `chain_offline`. */
  confirmedNonce(): Promise<number>
  /**
   * The same as of a block of the past, this one included: what it counts is under all the blocks that came after.
   *
   * @throws {LadeError} `chain_offline`, also when the node has forgotten how things stood then.
   */
  nonceAt(blockNumber: number): Promise<number>
  /**
   * Signs, and sends nothing. The same call, nonce and fees give the same transaction, as long as the network estimates the same gas for it.
   *
   * @throws {LadeError} `chain_offline`.
   */
  sign(request: { call: MarketplaceCall; nonce: number; fees: Fees }): Promise<SignedTransaction>
  /** Signs a transaction of no effect, for a nonce that has to be used up. */
  signEmpty(request: { nonce: number; fees: Fees }): Promise<SignedTransaction>
  /** Signs what a signed transaction does again, with its nonce and other fees, and asks nobody. */
  signAgain(request: { raw: Hash; fees: Fees }): Promise<SignedTransaction>
  /** Sends a signed transaction, also again. @throws {LadeError} `chain_offline` when it is unknown whether it got there. */
  send(raw: Hash): Promise<SendOutcome>
  /** Where a transaction is now; a block can still be replaced. @throws {LadeError} `chain_offline`. */
  find(hash: Hash): Promise<TransactionPlace>
  /** The newest block. @throws {LadeError} `chain_offline`. */
  head(): Promise<BlockPlace>
}

/**
 * The chain that balances are read from, wallets of contracts are asked on, and deals are made on.
 *
 * Nothing is called but the RPC that the configuration names. Every driver passes `describeChain`.
 *
 * @example
 * await chain.usdcBalance('0x70997970C51812dc3A010C7d01b50e0d17dc79C8') // 2_500_000n is 2.5 USDC
 */
export interface Chain {
  /** Shown in logs and in the readiness report, such as `evm`. */
  readonly name: string
  readonly chainId: number
  /** Undefined when no marketplace and key are configured. */
  readonly marketplace: Marketplace | undefined
  /** In units of 10⁻⁶ USDC, no older than a few seconds. @throws {LadeError} `chain_offline`. */
  usdcBalance(account: Address): Promise<bigint>
  /**
   * The least of these balances at the end of any block of a window that ends with the newest: what somebody holds who cannot have passed it
   * on to another account within the window. No older than a few seconds.
   *
   * @throws {LadeError} `chain_offline`.
   */
  leastUsdcBalance(account: Address): Promise<bigint>
  /**
   * True when `account` signed `message` in the way of `personal_sign` (EIP-191): by its key, or as a contract (ERC-1271), also one
   * that is not deployed yet (ERC-6492). A signature of the account's own key asks nobody.
   *
   * @param asking - runs the part that asks the chain. @default at once
   * @throws {LadeError} `chain_offline` when only the chain can tell and it does not.
   */
  isSignedBy(
    request: { account: Address; message: Uint8Array; signature: Uint8Array },
    asking?: (question: () => Promise<boolean>) => Promise<boolean>,
  ): Promise<boolean>
  /** Resolves when the chain answers. @throws {LadeError} `chain_offline`. */
  check(): Promise<void>
  /** Ends open requests. Safe to call twice. */
  close(): Promise<void>
}
