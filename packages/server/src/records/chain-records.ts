import type { NewAuditEntry } from './audit-log-records.ts'
import type { OnchainDealName } from './escrow-records.ts'

/**
 * `queued`: to be proposed. `proposing`: a transaction is on its way, or is in a block that is too young to be counted on. `confirmed`:
 * enough blocks are over it to tell callers. `final`: no reorganisation takes it back. `failed`: it will never be made, since it was
 * undone again and again, or since its copy ended before it was proposed.
 */
export type OnchainState = 'queued' | 'proposing' | 'confirmed' | 'final' | 'failed'

/** The deal on the chain about one copy of a piece. */
export interface OnchainDealRecord {
  readonly copy: number
  readonly prover: string
  readonly state: OnchainState
  /** The transaction that proposes it; null while it is queued. */
  readonly transaction: number | null
  /** Its place among the transaction's proposals. */
  readonly position: number | null
  /** The contract that it is proposed to, as an account id with its chain (CAIP-10); null while it is queued. */
  readonly contract: string | null
  /** Decimal; null until a block has it, and again when that block is gone. */
  readonly onchainId: string | null
  /**
   * The deal ends no earlier than this; null until a block has it. The term begins when the prover accepts, which nobody here sees, so
   * the true end is later by as long as the proposal and the prover took.
   */
  readonly endsAt: number | null
  /** How often a transaction that proposed it was in a block and undone. */
  readonly reverts: number
}

/** A queued deal with what its proposal needs. */
export interface QueuedDeal {
  readonly copy: number
  readonly prover: string
  /** The root of the piece tree, 64 lower-case hex digits. */
  readonly pieceRoot: string
  /** Raw bytes, before any padding. */
  readonly pieceSizeBytes: number
  /** When the last live file that needs the piece ends. */
  readonly neededUntil: number
  readonly reverts: number
}

/** A final deal that ends before the last live file that needs its piece. */
export interface ShortDeal {
  readonly copy: number
  /** The contract that has it. */
  readonly contract: string
  readonly onchainId: string
  readonly pieceSizeBytes: number
  readonly endsAt: number
  readonly neededUntil: number
  /** Extensions that were undone since the last one that was not, and when the last of them was. */
  readonly extensionFailures: number
  readonly extensionFailedAt: number | null
}

/** One signed form of a transaction: the first, or one that replaces it with higher fees. */
export interface TransactionAttempt {
  readonly hash: string
  readonly raw: string
  /** Decimal, in wei. */
  readonly maxFeePerGas: string
  readonly maxPriorityFeePerGas: string
  readonly signedAt: number
}

/**
 * `open`: not in a block, as far as is known. `mined`: in a block that may go away. `confirmed`: the same, under enough blocks to tell
 * callers. `final`: settled, in a block or because another transaction has its nonce.
 */
export type TransactionState = 'open' | 'mined' | 'confirmed' | 'final'

/** A transaction of the operator's account, and how far it is. Times are epoch milliseconds. */
export interface TransactionRecord {
  readonly id: number
  /** With its chain (CAIP-10): a nonce counts on one chain. */
  readonly account: string
  readonly nonce: number
  /** The call as JSON, with big numbers as decimal text. */
  readonly call: string
  readonly state: TransactionState
  /** Null until it is in a block. */
  readonly succeeded: boolean | null
  readonly blockNumber: number | null
  readonly blockHash: string | null
  /** Oldest first; at least one, since a transaction is recorded with its first. */
  readonly attempts: readonly TransactionAttempt[]
  readonly createdAt: number
}

/** A transaction to be recorded, with its first signed form. */
export interface NewTransaction {
  readonly account: string
  readonly nonce: number
  readonly call: string
  readonly attempt: TransactionAttempt
  /** What it puts in escrow, in units of 10⁻⁶ USDC. @default 0 */
  readonly paymentMicroUsdc?: number
  /** Not recorded when the payments of this time, this one included, would be more than this. */
  readonly budget?: { readonly from: number; readonly to: number; readonly microUsdc: number } | undefined
  readonly now: number
}

/**
 * Transactions of the operator's account, each recorded with its nonce and signed form before anybody sends it, so that whatever dies
 * the same transaction is sent again and never another one like it.
 *
 * A deal is about one transaction at a time, and is queued again only when that one can take effect no more. What is said about a
 * transaction names the block that it was seen in, so that a process that is late changes nothing that another one knows better.
 */
export interface ChainRecords {
  /**
   * Names what an older version wrote by its address alone: transactions of this account, what is counted of these contracts, and the deals
   * that signed transactions proposed to them. All of it is on this chain. Nothing happens to what has its name.
   */
  adopt(request: { chain: string; account: string; contracts: readonly string[] }): Promise<void>
  /**
   * Has a deal queued for every live copy in `parked`, `adding` or `stored` at these provers that has none, no more than `limit` at each;
   * answers how many are new. Queued deals at the front whose copies have ended become `failed`.
   */
  queueDeals(request: { provers: readonly string[]; limit: number }): Promise<number>
  /** Queued deals whose copy is live, at one of these provers, and of a piece that a file needs beyond `now`; oldest first. */
  queued(request: { provers: readonly string[]; now: number; limit: number }): Promise<readonly QueuedDeal[]>
  /** The nonce after the highest that was ever recorded for this account; undefined when there is none. */
  nextNonce(account: string): Promise<number | undefined>
  /**
   * Records a transaction that proposes deals for these copies to this contract, in this order. False, and nothing recorded, when the nonce is taken or
   * one of the copies is not queued, or not live, any more, or the budget is used up.
   */
  propose(request: NewTransaction & { contract: string; copies: readonly number[] }): Promise<boolean>
  /**
   * Records a transaction about no proposal. False, and nothing recorded, when the nonce is taken, or when the deal that it `extends` is
   * not final, has another end than `from`, or is being extended, when the deal that it `recovers` from has nothing to be recovered or has
   * a transaction under way, or when the budget is used up.
   */
  record(
    request: NewTransaction & {
      extends?: { readonly copy: number; readonly from: number; readonly to: number }
      recovers?: OnchainDealName
    },
  ): Promise<boolean>
  /** Another signed form of the same transaction, recorded before it is sent. False when the transaction is not `open` any more. */
  addAttempt(request: { transaction: number; attempt: TransactionAttempt }): Promise<boolean>
  /** Transactions in these states from this nonce on, lowest first. */
  transactions(request: {
    account: string
    states: readonly TransactionState[]
    fromNonce?: number
    limit: number
  }): Promise<readonly TransactionRecord[]>
  /**
   * It is in this block, perhaps in another one than before, and under enough others when `isConfirmed`. When it `succeeded` its deals
   * have these ids and ends in their order, and are `confirmed` with it. Nothing happens to a final one.
   */
  mined(request: {
    transaction: number
    succeeded: boolean
    blockNumber: number
    blockHash: string
    isConfirmed: boolean
    dealIds: readonly string[]
    endsAt: readonly number[]
  }): Promise<void>
  /** This block, that had it, is gone: it is `open` again, and its deals are `proposing` without an id. */
  reorganised(request: { transaction: number; blockHash: string }): Promise<void>
  /**
   * No reorganisation can take it out of this block any more: its deals are `final`. When it did not succeed they are queued again, or
   * `failed` from this many reverts on. False, and nothing changed, unless this is the block that is recorded.
   */
  final(request: { transaction: number; blockHash: string; failFromReverts: number; now: number }): Promise<boolean>
  /** Another transaction has its nonce for good: it is `final` in no block, and its deals are queued again. Only for an open one. */
  superseded(request: { transaction: number }): Promise<boolean>
  /** The on-chain deals of these copies, in their order; copies without one are left out. */
  dealsOf(copies: readonly number[]): Promise<readonly OnchainDealRecord[]>
  /**
   * The sequence of the latest file of the principal that a deal of this on-chain id carries by itself (not in an aggregate), of whichever
   * contract, from the confirmation of the deal on.
   */
  fileOf(request: { principal: string; onchainId: string }): Promise<number | undefined>
  /**
   * Of the final deals of live copies whose end is after `endsAfter` and before `endsBefore`, those that are too short, that have not ended on the
   * chain, and that no extension is under way for. Looks at about `limit` deals, the earliest end first; `upTo` is the end that it got to, null when that
   * was all.
   */
  tooShort(request: { endsAfter: number; endsBefore: number; limit: number }): Promise<{
    readonly deals: readonly ShortDeal[]
    readonly upTo: number | null
  }>
}

/** Nonces of wallets, each good once. */
export interface NonceRecords {
  /** True when this account has used the nonce and it is still remembered. Between this and `use` another request may use it. */
  isUsed(request: { account: string; nonce: string }): Promise<boolean>
  /** True for a nonce that was handed out here, has not been taken back, and whose time is not over. */
  isIssued(request: { nonce: string; now: number }): Promise<boolean>
  /** Uses up a nonce of a signature. True the first time; `until` is how long it has to be remembered. */
  use(request: { account: string; nonce: string; until: number }): Promise<boolean>
  /** Hands out a nonce of ours, for a sign-in. */
  issue(request: { nonce: string; until: number }): Promise<void>
  /**
   * Takes back a nonce of ours. True once, before its time is over.
   *
   * @param request.audit - the sign-in that it was for, added to the audit log with it.
   */
  redeem(request: { nonce: string; now: number; audit?: NewAuditEntry | undefined }): Promise<boolean>
  /** Forgets what is past its time; answers how many. */
  expire(request: { now: number; limit: number }): Promise<number>
}
