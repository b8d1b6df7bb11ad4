/** As in the chain's port: `withdrawn`, `settled` and `slashed` deals have ended. */
export type EscrowState = 'proposed' | 'active' | 'ending' | 'withdrawn' | 'settled' | 'slashed'

/** A deal by the account id of its contract (CAIP-10, with the chain) and its number there. */
export interface OnchainDealName {
  readonly contract: string
  readonly onchainId: string
}

/** A deal of the operator's account as the contract has it. Amounts are units of 10⁻⁶ USDC, times epoch milliseconds. */
export interface EscrowRecord extends OnchainDealName {
  /** As it was read last; the events of final blocks can be behind it. */
  readonly state: EscrowState
  /** The end of its term; null while nobody has accepted it. */
  readonly endsAt: number | null
  /** What the account has put in. */
  readonly paidInMicroUsdc: number
  /** Of that, what was paid to the prover, and what came back. The rest is in the contract. */
  readonly paidOutMicroUsdc: number
  readonly returnedMicroUsdc: number
  /** What the prover put up. */
  readonly bondMicroUsdc: number
  /** Of that, what went back to the prover, and what came to the account. The rest is in the contract. */
  readonly bondReleasedMicroUsdc: number
  readonly bondForfeitedMicroUsdc: number
}

/** A deal whose state has to be read. */
export interface EscrowToCheck {
  readonly onchainId: string
  readonly state: EscrowState
  /** By the events of final blocks. */
  readonly finalState: EscrowState
  /** False for a deal whose copy has ended. */
  readonly isNeeded: boolean
  /** What is still in the contract. */
  readonly heldMicroUsdc: number
  /** Transactions about it that were undone since the last that was not. */
  readonly failures: number
}

/** Something that the contract said in final blocks. Those about deals that are not the account's are ignored. */
export type EscrowChange = { readonly onchainId: string } & (
  | { readonly kind: 'proposed'; readonly microUsdc: number }
  | { readonly kind: 'accepted'; readonly endsAt: number; readonly bondMicroUsdc: number }
  | { readonly kind: 'ending'; readonly endsAt: number }
  | { readonly kind: 'extended'; readonly extraMs: number; readonly microUsdc: number }
  | { readonly kind: 'withdrawn'; readonly microUsdc: number }
  /** Of the escrow, and of the bond. */
  | { readonly kind: 'paidOut' | 'returned'; readonly microUsdc: number; readonly bondMicroUsdc: number }
  | { readonly kind: 'settled' | 'slashed' }
)

/** All of the account's deals of some contracts together. */
export interface EscrowTotals {
  readonly deals: readonly { readonly state: EscrowState; readonly count: number }[]
  readonly paidInMicroUsdc: number
  readonly paidOutMicroUsdc: number
  readonly returnedMicroUsdc: number
  readonly bondMicroUsdc: number
  readonly bondReleasedMicroUsdc: number
  readonly bondForfeitedMicroUsdc: number
}

/**
 * What the marketplace contracts hold for the operator's account: one row for every deal that the contract says is the account's, also
 * for those that no copy is known of. Money is counted from the events of final blocks, each once.
 */
export interface EscrowRecords {
  /** The last block whose events are counted; undefined before the first. */
  scannedTo(contract: string): Promise<number | undefined>
  /** The lowest block that has a transaction of the account; undefined when none has. */
  firstBlock(account: string): Promise<number | undefined>
  /**
   * Counts the events of the blocks after `after` up to `to`. False, and nothing counted, when `after` is not the last block that is counted.
   * A deal whose state changes is to be checked at once.
   */
  apply(request: {
    contract: string
    after: number | undefined
    to: number
    changes: readonly EscrowChange[]
    now: number
  }): Promise<boolean>
  /**
   * Deals to be read now: those whose time has come, which it has when their copy ends, and proposed ones whose copy has ended. None that a
   * transaction is under way for. Those that wait longest come first.
   */
  due(request: { contract: string; now: number; limit: number }): Promise<readonly EscrowToCheck[]>
  /**
   * This is the state that was read; the next look is then, or when its copy ends, or never for null. The status of the deals of files
   * follows from it.
   */
  checked(request: {
    contract: string
    onchainId: string
    state: EscrowState
    nextAt: number | null
    now: number
  }): Promise<void>
  /** These deals, in their order; those that are not known are left out. */
  find(deals: readonly OnchainDealName[]): Promise<readonly EscrowRecord[]>
  /** Of all of these contracts together. */
  totals(contracts: readonly string[]): Promise<EscrowTotals>
  /** What transactions of the account that were made in this time put in escrow, but for those that have failed for good. */
  spent(request: { account: string; from: number; to: number }): Promise<number>
}
