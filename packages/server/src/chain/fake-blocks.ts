import { keccak256, toHex } from 'viem'
import type { Address, BlockPlace, DealProposal, Fees, Hash, MarketplaceCall } from './chain.ts'
import type { FakeAct } from './fake-marketplace.ts'

/** A transaction of the fake chain; its raw form is this as JSON. A call of null has no effect. */
export interface FakeTransaction {
  readonly hash: Hash
  readonly nonce: number
  readonly call: MarketplaceCall | null
  readonly fees: Fees
}

/** A transaction in a block, with what came of it. */
export interface IncludedTransaction extends FakeTransaction {
  readonly succeeded: boolean
  readonly dealIds: readonly bigint[]
}

export interface FakeBlock extends BlockPlace {
  readonly transactions: readonly IncludedTransaction[]
  /** What provers did in it, after the transactions. */
  readonly acts: readonly FakeAct[]
  /** Epoch milliseconds. */
  readonly at: number
  /** Whether the token refused payments then. */
  readonly isFrozen: boolean
}

/** A deal of the canonical chain. */
export interface FakeDeal {
  readonly contract: Address
  readonly dealId: bigint
  readonly proposal: DealProposal
  readonly transaction: Hash
  readonly block: BlockPlace
  /** By extensions. */
  readonly extraSeconds: number
}

/** The raw form of a transaction: the same parts give the same text. */
export function encodeFake(parts: Omit<FakeTransaction, 'hash'> & { readonly chainId: number }): Hash {
  return toHex(JSON.stringify(parts, (_, value) => (typeof value === 'bigint' ? `${value}n` : value)))
}

/** @throws {SyntaxError} when `raw` is no transaction of a fake chain. */
export function decodeFake(raw: Hash): FakeTransaction {
  const text = Buffer.from(raw.slice(2), 'hex').toString()
  const revive = (_: string, value: unknown) =>
    typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value
  return { ...JSON.parse(text, revive), hash: keccak256(raw) }
}

/** The deals that a chain of blocks holds, in the order of their ids. */
export function dealsIn(blocks: readonly FakeBlock[]): FakeDeal[] {
  const included = blocks.flatMap(({ transactions, number, hash }) =>
    transactions.map((each) => ({ ...each, block: { number, hash } })),
  )
  const nameOf = (contract: Address, dealId: bigint) => `${contract} ${dealId}`
  const extraSeconds = new Map<string, number>()
  for (const { call, succeeded } of included) {
    if (call?.kind !== 'extend' || !succeeded) continue
    const name = nameOf(call.contract, call.dealId)
    extraSeconds.set(name, (extraSeconds.get(name) ?? 0) + call.extraSeconds)
  }
  return included.flatMap(({ call, dealIds, hash, block }) => {
    if (call?.kind !== 'propose') return []
    const { contract } = call
    return call.deals.flatMap((proposal, position) => {
      const dealId = dealIds[position]
      if (dealId === undefined) return []
      const extra = extraSeconds.get(nameOf(contract, dealId)) ?? 0
      return { contract, dealId, proposal, transaction: hash, block, extraSeconds: extra }
    })
  })
}
