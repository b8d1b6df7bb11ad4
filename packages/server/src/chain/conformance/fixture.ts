import type { Address, Chain, Hash, Marketplace } from '../chain.ts'

/** A chain to be tested, and the network behind it, which does as it is told. No block comes by itself. */
export interface ChainFixture {
  readonly chain: Chain & { readonly marketplace: Marketplace }
  /** An account of nobody's, with so much USDC. */
  fundedAccount(microUsdc: bigint): Promise<Address>
  /** Moves USDC of an account of nobody's, in a block of its own. */
  moveUsdc(from: Address, to: Address, microUsdc: bigint): Promise<void>
  /** A contract wallet, and a signature of its own under a message. */
  contractWallet(message: Uint8Array): Promise<{ readonly account: Address; readonly signature: Uint8Array }>
  /** A prover with USDC, that puts up bonds. */
  readonly prover: Address
  /** It accepts a deal, in a block of its own. */
  accept(dealId: bigint): Promise<void>
  /** While it is not, nobody answers. */
  setOnline(isOnline: boolean): Promise<void>
  mine(blocks?: number): Promise<void>
  /** Replaces the newest blocks by others without transactions. */
  reorganise(depth: number): Promise<void>
  /** Has the network forget a transaction that waits. */
  drop(hash: Hash): Promise<void>
  close(): Promise<void>
}
