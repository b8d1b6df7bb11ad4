import { LadeError } from '@lade/core/errors'
import { DAY_MS } from '@lade/core/time'
import { keccak256, toHex } from 'viem'
import type {
  Address,
  BlockPlace,
  Chain,
  DealEvent,
  Fees,
  Hash,
  Marketplace,
  MarketplaceCall,
  MarketplaceContract,
  MarketplaceVersion,
  SendOutcome,
} from './chain.ts'
import { isSignedByKey } from './drivers/evm/signed-by-key.ts'
import {
  dealsIn,
  decodeFake,
  encodeFake,
  type FakeBlock,
  type FakeDeal,
  type FakeTransaction,
  type IncludedTransaction,
} from './fake-blocks.ts'
import { type FakeAct, FakeMarketplace } from './fake-marketplace.ts'

const GWEI = 10n ** 9n
const FAKE_CONTRACT: Address = '0x5FbDB2315678afecb367f032d93F642f64180aa3'

/** As in the driver for EVM chains. */
const WINDOW_BLOCKS = 128

/** A marketplace of a fake chain. */
export interface FakeContract {
  readonly address: Address
  /** @default 1 */
  readonly version?: MarketplaceVersion
  /** @default 1n */
  readonly firstDealId?: bigint
}

export interface FakeChainOptions {
  /** @default 31337 */
  readonly chainId?: number
  /** The operator's account. @default the first of anvil */
  readonly account?: Address
  /** The marketplaces, the one for new deals first. @default the first contract of anvil, of version 1, numbering from 1 */
  readonly contracts?: readonly [FakeContract, ...FakeContract[]]
  /** A block after every transaction that is taken. @default false */
  readonly minesAtOnce?: boolean
  /** Proposals revert until an approval is in a block. @default false */
  readonly needsApproval?: boolean
  /** The time of a new block, in epoch milliseconds. @default Date.now */
  readonly now?: () => number
  /** The proving period of the contract. @default 30 days */
  readonly periodMs?: number
}

/** A chain for tests, in memory: blocks, reorganisations, losses and refusals come on demand. */
export interface FakeChain extends Chain {
  readonly marketplace: Marketplace
  /** Every deal in the canonical blocks, in the order of their ids. */
  readonly deals: readonly FakeDeal[]
  /** What was sent, also what was refused or lost, oldest first. */
  readonly sent: readonly Hash[]
  /** Hashes that wait for a block, by nonce. */
  readonly pool: readonly Hash[]
  /** The account has held this all the time. */
  setBalance(account: Address, microUsdc: bigint): void
  /** Moves USDC from one account to another, in a block of its own. */
  transferUsdc(from: Address, to: Address, microUsdc: bigint): void
  /** From now on this account is a contract that takes this signature for every message, and no other. */
  acceptAsContract(account: Address, signature: Uint8Array): void
  /** While offline every question is `chain_offline`. */
  setOnline(isOnline: boolean): void
  /** The next `send` is `chain_offline`, and the transaction is in the pool or it is not. */
  loseNextAnswer(request: { readonly arrives: boolean }): void
  /** The next `send` is `refused`. */
  refuseNext(reason: string): void
  /** What offers less is `underpriced`, and waits if it is in the pool. */
  setBaseFee(wei: bigint): void
  /** Calls for which this is true land and fail, from the next block on. */
  revertWhen(isReverted: (call: MarketplaceCall) => boolean): void
  /** Takes what can be taken from the pool into the next block, and adds empty ones after it. */
  mine(blocks?: number): BlockPlace
  /**
   * Replaces the newest blocks by as many others. Their transactions go back to the pool, into the first of the new blocks, or nowhere.
   *
   * @param request.transactions - default `pool`.
   */
  reorganise(request: { readonly depth: number; readonly transactions?: 'pool' | 'again' | 'dropped' }): void
  /** The network forgets a transaction that waits. */
  drop(hash: Hash): void
  /** Somebody else who has the key uses the next nonce up, in a block of its own. */
  useNonceElsewhere(): void
  /** A prover does this in the next block. */
  act(act: FakeAct): void
  /** From now on the token refuses payments from the marketplace and to it, or no more. */
  setFrozen(isFrozen: boolean): void
  /** What the contracts hold of the deals, in units of 10⁻⁶ USDC. */
  readonly escrowMicroUsdc: bigint
  /** Answers as a node that has not seen the newest blocks yet. */
  setLag(blocks: number): void
}

/**
 * Opens a chain in memory that behaves as the network may at its worst.
 *
 * @example
 * const chain = openFakeChain()
 * const { raw, hash } = await chain.marketplace.sign({ call, nonce: 0, fees: await chain.marketplace.fees() })
 * await chain.marketplace.send(raw)
 * chain.mine()
 * await chain.marketplace.find(hash) // { place: 'block', succeeded: true, dealIds: [1n], … }
 */
export function openFakeChain(options: FakeChainOptions = {}): FakeChain {
  const {
    chainId = 31_337,
    account = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
    contracts = [{ address: FAKE_CONTRACT }],
    now = Date.now,
    periodMs = 30 * DAY_MS,
  } = options
  const blocks: FakeBlock[] = [
    { number: 0, hash: keccak256('0x00'), transactions: [], acts: [], at: 0, isFrozen: false },
  ]
  const pool = new Map<number, FakeTransaction>()
  const balances = new Map<string, bigint>()
  const transfers: { block: number; from: string; to: string; microUsdc: bigint }[] = []
  const contractSignatures = new Map<string, string[]>()
  const sent: Hash[] = []
  const refusals: string[] = []
  const losses: { readonly arrives: boolean }[] = []
  let isOnline = true
  let baseFee = GWEI
  let lagBlocks = 0
  let blocksEver = 0
  let isFrozen = false
  let acts: FakeAct[] = []
  let isReverted: (call: MarketplaceCall) => boolean = () => false

  const offline = () => new LadeError('chain_offline', { retryAfterSeconds: 5 })
  const online = () => {
    if (!isOnline) throw offline()
  }
  const seen = () => blocks.slice(0, Math.max(1, blocks.length - lagBlocks))
  const nonceAfter = (chain: readonly FakeBlock[]) =>
    chain.reduce((count, { transactions }) => count + transactions.length, 0)
  const isApproved = (
    contract: Address,
    included: readonly { call: MarketplaceCall | null; succeeded: boolean }[],
  ): boolean =>
    included.some(({ call, succeeded }) => call?.kind === 'approve' && call.contract === contract && succeeded)

  const headOf = (chain: readonly FakeBlock[]): BlockPlace => {
    const last = chain.at(-1)
    if (last === undefined) throw new TypeError('a chain has at least its first block')
    return { number: last.number, hash: last.hash }
  }

  const include = (
    transaction: FakeTransaction,
    before: readonly IncludedTransaction[],
    markets: ReadonlyMap<Address, FakeMarketplace>,
    at: number,
  ): IncludedTransaction => {
    const { call } = transaction
    if (call === null) return { ...transaction, succeeded: true, dealIds: [] }
    const spends = call.kind === 'propose' || call.kind === 'extend'
    const market = markets.get(call.contract)
    const nextDealId = market?.nextDealId ?? 0n
    const isUnapproved = spends && options.needsApproval === true && !isApproved(call.contract, before)
    const succeeded = !isReverted(call) && !isUnapproved && market?.call(call, at) === true
    const count = call.kind === 'propose' && succeeded ? call.deals.length : 0
    return {
      ...transaction,
      succeeded,
      dealIds: Array.from({ length: count }, (_, index) => nextDealId + BigInt(index)),
    }
  }

  /** The contracts after these blocks, and as the token is now from then on. */
  const marketsAfter = (chain: readonly FakeBlock[]): ReadonlyMap<Address, FakeMarketplace> => {
    let isFrozenThen = false
    const markets = new Map(
      contracts.map((contract) => [
        contract.address,
        new FakeMarketplace({ ...contract, client: account, periodMs, isFrozen: () => isFrozenThen }),
      ]),
    )
    for (const block of chain) {
      isFrozenThen = block.isFrozen
      for (const { call, succeeded } of block.transactions) {
        if (call !== null && succeeded) markets.get(call.contract)?.call(call, block.at)
      }
      for (const act of block.acts) markets.get(act.contract ?? contracts[0].address)?.act(act, block.at)
    }
    isFrozenThen = isFrozen
    return markets
  }

  const addBlock = (transactions: readonly FakeTransaction[], done: readonly FakeAct[] = []) => {
    const included = blocks.flatMap((block) => block.transactions)
    const before = included.length
    const at = now()
    const markets = marketsAfter(blocks)
    for (const transaction of transactions) included.push(include(transaction, included, markets, at))
    blocksEver += 1
    blocks.push({
      number: blocks.length,
      hash: keccak256(toHex(`block ${blocksEver}`)),
      transactions: included.slice(before),
      acts: done,
      at,
      isFrozen,
    })
  }

  const takeFromPool = (): FakeTransaction[] => {
    const taken: FakeTransaction[] = []
    for (let nonce = nonceAfter(blocks); ; nonce += 1) {
      const next = pool.get(nonce)
      if (next === undefined || next.fees.maxFeePerGas < baseFee) return taken
      pool.delete(nonce)
      taken.push(next)
    }
  }

  const mine = (count = 1): BlockPlace => {
    for (let index = 0; index < count; index += 1) {
      addBlock(index === 0 ? takeFromPool() : [], acts)
      acts = []
    }
    return headOf(blocks)
  }

  const take = (transaction: FakeTransaction): SendOutcome => {
    if (transaction.nonce < nonceAfter(blocks)) return { outcome: 'nonce_used' }
    const waiting = pool.get(transaction.nonce)
    if (waiting?.hash === transaction.hash) return { outcome: 'accepted' }
    if (transaction.fees.maxFeePerGas < baseFee) return { outcome: 'underpriced' }
    if (waiting !== undefined && !isTenthHigher(transaction.fees, waiting.fees)) return { outcome: 'underpriced' }
    pool.set(transaction.nonce, transaction)
    if (options.minesAtOnce === true) mine()
    return { outcome: 'accepted' }
  }

  const sign = (call: MarketplaceCall | null, nonce: number, fees: Fees) => {
    const raw = encodeFake({ call, nonce, fees, chainId })
    return { hash: keccak256(raw), raw }
  }

  const openContract = ({ address, version = 1 }: FakeContract): MarketplaceContract => ({
    address,
    async version() {
      online()
      return version
    },
    async prepare() {
      online()
      const included = seen().flatMap(({ transactions }) => transactions)
      const isReady = options.needsApproval !== true || isApproved(address, included)
      return isReady ? [] : [{ kind: 'approve', contract: address }]
    },
    async deal(dealId) {
      online()
      const chain = seen()
      return marketsAfter(chain)
        .get(address)
        ?.deal(dealId, chain.at(-1)?.at ?? 0)
    },
    async events({ from, to }) {
      online()
      if (to > headOf(seen()).number) throw offline()
      const eventsOf = (chain: readonly FakeBlock[]) => marketsAfter(chain).get(address)?.events ?? []
      return eventsOf(blocks.slice(0, to + 1)).slice(eventsOf(blocks.slice(0, from)).length)
    },
    async canPay() {
      online()
      return !isFrozen
    },
  })
  const [first, ...others] = contracts

  const marketplace: Marketplace = {
    account,
    contracts: [openContract(first), ...others.map(openContract)],
    async fees() {
      online()
      return { maxFeePerGas: 2n * baseFee + GWEI, maxPriorityFeePerGas: GWEI }
    },
    async confirmedNonce() {
      online()
      return nonceAfter(seen())
    },
    async nonceAt(blockNumber) {
      online()
      if (blockNumber < 0 || blockNumber > headOf(seen()).number) throw offline()
      return nonceAfter(blocks.slice(0, blockNumber + 1))
    },
    async sign({ call, nonce, fees }) {
      const { version = 1 } = contracts.find(({ address }) => address === call.contract) ?? {}
      if (call.kind === 'end' && version === 1) throw new TypeError('a marketplace of version 1 ends no deals')
      return sign(call, nonce, fees)
    },
    signEmpty: async ({ nonce, fees }) => sign(null, nonce, fees),
    async signAgain({ raw, fees }) {
      const { call, nonce } = decodeFake(raw)
      return sign(call, nonce, fees)
    },
    async send(raw) {
      online()
      const transaction = decodeFake(raw)
      sent.push(transaction.hash)
      const reason = refusals.shift()
      if (reason !== undefined) return { outcome: 'refused', reason }
      const loss = losses.shift()
      if (loss?.arrives === false) throw offline()
      const outcome = take(transaction)
      if (loss !== undefined) throw offline()
      return outcome
    },
    async find(hash) {
      online()
      for (const { transactions, number, hash: block } of seen()) {
        const found = transactions.find((each) => each.hash === hash)
        if (found === undefined) continue
        return { place: 'block', block: { number, hash: block }, succeeded: found.succeeded, dealIds: found.dealIds }
      }
      return { place: pooled().includes(hash) ? 'pool' : 'unknown' }
    },
    async head() {
      online()
      return headOf(seen())
    },
  }

  const pooled = () => [...pool.values()].sort((a, b) => a.nonce - b.nonce).map(({ hash }) => hash)

  return {
    name: 'fake',
    chainId,
    marketplace,
    sent,
    get deals() {
      return dealsIn(blocks)
    },
    get pool() {
      return pooled()
    },
    async usdcBalance(asked) {
      online()
      return balances.get(asked.toLowerCase()) ?? 0n
    },
    async leastUsdcBalance(asked) {
      online()
      const key = asked.toLowerCase()
      const firstBlock = headOf(seen()).number - WINDOW_BLOCKS + 1
      let balance = balances.get(key) ?? 0n
      let least = balance
      for (const { block, from, to, microUsdc } of transfers.toReversed()) {
        if (block <= firstBlock) break
        if (to === key) balance -= microUsdc
        if (from === key) balance += microUsdc
        if (balance < least) least = balance
      }
      return least
    },
    async isSignedBy(request, asking = (question) => question()) {
      if (await isSignedByKey(request)) return true
      return asking(async () => {
        online()
        const accepted = contractSignatures.get(request.account.toLowerCase()) ?? []
        return accepted.includes(toHex(request.signature))
      })
    },
    async check() {
      online()
    },
    async close() {},
    setBalance: (owner, microUsdc) => void balances.set(owner.toLowerCase(), microUsdc),
    transferUsdc(from, to, microUsdc) {
      const { number: block } = mine()
      const [payer, payee] = [from.toLowerCase(), to.toLowerCase()]
      balances.set(payer, (balances.get(payer) ?? 0n) - microUsdc)
      balances.set(payee, (balances.get(payee) ?? 0n) + microUsdc)
      transfers.push({ block, from: payer, to: payee, microUsdc })
    },
    acceptAsContract(contract, signature) {
      const key = contract.toLowerCase()
      contractSignatures.set(key, [...(contractSignatures.get(key) ?? []), toHex(signature)])
    },
    setOnline(value) {
      isOnline = value
    },
    loseNextAnswer: (loss) => void losses.push(loss),
    refuseNext: (reason) => void refusals.push(reason),
    setBaseFee(wei) {
      baseFee = wei
    },
    revertWhen(predicate) {
      isReverted = predicate
    },
    mine,
    reorganise({ depth, transactions = 'pool' }) {
      const removed = blocks.splice(Math.max(1, blocks.length - depth))
      const taken = removed.flatMap((block) => block.transactions)
      const done = removed.flatMap((block) => block.acts)
      if (transactions === 'pool') acts = [...done, ...acts]
      if (transactions === 'pool') for (const each of taken) pool.set(each.nonce, each)
      for (let index = 0; index < removed.length; index += 1) {
        const isAgain = index === 0 && transactions === 'again'
        addBlock(isAgain ? taken : [], isAgain ? done : [])
      }
    },
    drop(hash) {
      for (const [nonce, transaction] of pool) if (transaction.hash === hash) pool.delete(nonce)
    },
    useNonceElsewhere() {
      const nonce = nonceAfter(blocks)
      pool.delete(nonce)
      const fees = { maxFeePerGas: baseFee, maxPriorityFeePerGas: 0n }
      addBlock([{ hash: keccak256(toHex(`elsewhere ${blocksEver}`)), nonce, call: null, fees }])
    },
    act: (act) => void acts.push(act),
    setFrozen(value) {
      isFrozen = value
    },
    get escrowMicroUsdc() {
      return [...marketsAfter(blocks).values()].reduce((sum, { events }) => sum + escrowOf(events), 0n)
    },
    setLag(count) {
      lagBlocks = count
    },
  }
}

/** What went into a contract and has not come out. */
function escrowOf(events: readonly DealEvent[]): bigint {
  return events.reduce((sum, event) => {
    if (event.kind === 'proposed' || event.kind === 'extended') return sum + event.microUsdc
    return event.kind === 'paid' || event.kind === 'withdrawn' ? sum - event.microUsdc : sum
  }, 0n)
}

/** A node takes a replacement that offers a tenth more for both. */
function isTenthHigher(fees: Fees, than: Fees): boolean {
  return (
    fees.maxFeePerGas * 10n >= than.maxFeePerGas * 11n &&
    fees.maxPriorityFeePerGas * 10n >= than.maxPriorityFeePerGas * 11n
  )
}
