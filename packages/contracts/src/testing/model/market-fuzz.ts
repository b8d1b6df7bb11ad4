import { deepStrictEqual } from 'node:assert/strict'
import {
  type Address,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  maxUint256,
  parseEventLogs,
  parseSignature,
} from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { dealTermsHash } from '../../challenge/challenge.ts'
import { marketplaceAbi } from '../../contracts.ts'
import { type FuzzChain, openFuzzChain, type Receipt, tokenAbi } from './fuzz-chain.ts'
import { type CallContext, MarketModel, type ModelSettings } from './market-model.ts'
import { contractView, type ModelDeal } from './model-deal.ts'
import { ModelToken } from './model-token.ts'
import { Refusal } from './refusal.ts'

const SETTINGS: ModelSettings = {
  periodSeconds: 1_000,
  windowSeconds: 3_000,
  maxDurationSeconds: 100 * 365 * 86_400,
  seedDelayBlocks: 1,
  firstDealId: 1_000_001n,
}
const MINTED = 10n ** 18n
const MNEMONIC = 'test test test test test test test test test test test junk'

/** What a run did, to be shown. */
export interface FuzzFigures {
  readonly actions: Map<string, { taken: number; refused: number }>
  readonly deals: Map<string, number>
  readonly blocks: number
  readonly paidOut: bigint
  readonly reentries: bigint
}

/** Money of one deal, counted from the events of the contract alone. */
interface Flow {
  in: bigint
  out: bigint
  bondIn: bigint
  bondOut: bigint
}

/** A run: the contract on a chain, the model beside it, and the comparison of the two after every call. */
export class MarketFuzz {
  readonly chain: FuzzChain
  readonly model: MarketModel
  readonly token: ModelToken
  /** Two that approve for ever, and one that signs permits. */
  readonly clients: readonly Address[]
  readonly provers: readonly Address[]
  readonly stranger: Address
  readonly figures: FuzzFigures['actions'] = new Map()
  readonly #flows = new Map<bigint, Flow>()
  #newest = { block: 0, now: 0 }
  #paidOut = 0n

  private constructor(chain: FuzzChain) {
    this.chain = chain
    const [, ...others] = chain.accounts
    this.clients = others.slice(0, 3)
    this.provers = others.slice(3, 6)
    this.stranger = others[6] ?? '0x'
    this.token = new ModelToken(chain.market, [...this.clients, ...this.provers, this.stranger], MINTED)
    this.token.allowances.set(this.permitClient, 0n)
    this.model = new MarketModel(SETTINGS, this.token)
  }

  static async open(hardfork: string): Promise<MarketFuzz> {
    const fuzz = new MarketFuzz(await openFuzzChain(SETTINGS, hardfork))
    const { chain } = fuzz
    for (const account of [...fuzz.clients, ...fuzz.provers, fuzz.stranger]) {
      await fuzz.toToken(encodeFunctionData({ abi: tokenAbi, functionName: 'mint', args: [account, MINTED] }))
      if (account === fuzz.permitClient) continue
      const approve = encodeFunctionData({ abi: tokenAbi, functionName: 'approve', args: [chain.market, maxUint256] })
      await chain.send(account, chain.token, approve)
    }
    fuzz.#newest = await chain.newest()
    return fuzz
  }

  get permitClient(): Address {
    return this.clients[2] ?? '0x'
  }

  /** Of the block that the next transaction is in. */
  contextOf(caller: Address): CallContext {
    return { caller, now: this.#newest.now + 1, block: this.#newest.block + 1 }
  }

  get newestBlock(): number {
    return this.#newest.block
  }

  /** Sends a call to the contract and runs it in the model, and compares. */
  async compare(
    name: string,
    caller: Address,
    ids: readonly bigint[],
    data: Hex,
    act: (context: CallContext) => void,
  ): Promise<void> {
    const context = this.contextOf(caller)
    const idsBefore = this.model.deals.size
    let events: readonly { name: string; args: unknown }[] = []
    let refusal: Refusal | undefined
    try {
      events = this.model.call(ids, () => act(context))
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      refusal = error
    }
    const receipt = await this.chain.send(caller, this.chain.market, data)
    this.#count(name, refusal)
    this.#passed(receipt)
    deepStrictEqual(
      [receipt.block, receipt.isSuccess],
      [context.block, refusal === undefined],
      `${name}: ${refusal?.reason}`,
    )
    const logs = receipt.logs.filter(({ address }) => address.toLowerCase() === this.chain.market.toLowerCase())
    const emitted = parseEventLogs({ abi: marketplaceAbi, logs: [...logs] }).map((log) => ({
      name: log.eventName,
      args: { ...log.args },
    }))
    deepStrictEqual(emitted, [...events], name)
    for (const event of emitted) this.#flow(event)
    const created = [...this.model.deals.keys()].slice(idsBefore)
    await this.compareDeals([...ids, ...created].filter((dealId) => this.model.deals.has(dealId)))
  }

  /** The stored deals equal the model's, and of each deal nothing is lost or made. */
  async compareDeals(ids: readonly bigint[]): Promise<void> {
    const unique = [...new Set(ids)]
    const answers = await this.chain.read(
      unique.map((dealId) => ({
        to: this.chain.market,
        data: encodeFunctionData({ abi: marketplaceAbi, functionName: 'deals', args: [dealId] }),
      })),
    )
    for (const [index, dealId] of unique.entries()) {
      const stored = decodeFunctionResult({ abi: marketplaceAbi, functionName: 'deals', data: answers[index] ?? '0x' })
      const deal = this.model.deals.get(dealId)
      if (deal === undefined) throw new Error(`the model has no deal ${dealId}`)
      deepStrictEqual({ ...stored }, { ...stored, ...contractView(deal) }, `deal ${dealId}`)
      const flow = this.#flows.get(dealId)
      const held = stored.remaining + stored.extraPayment + stored.earned + stored.refundable
      deepStrictEqual(flow?.in, held + (flow?.out ?? 0n), `escrow of deal ${dealId}`)
      deepStrictEqual(
        flow?.bondIn,
        stored.bondLeft + stored.forfeited + (flow?.bondOut ?? 0n),
        `bond of deal ${dealId}`,
      )
    }
  }

  /** All balances, the totals of the contract, and the lists of deals. */
  async compareAll(): Promise<void> {
    const { chain, model, token } = this
    const holders = [...token.balances.keys()]
    const view = (functionName: 'totals' | 'dealsOfClient' | 'dealsOfProver', args: readonly unknown[]) =>
      // biome-ignore lint/suspicious/noExplicitAny: three views in one list.
      ({ to: chain.market, data: encodeFunctionData({ abi: marketplaceAbi, functionName, args } as any) })
    const people = [...this.clients, ...this.provers]
    const answers = await chain.read([
      view('totals', [SETTINGS.firstDealId, model.lastDealId]),
      ...people.flatMap((account) => [
        view('dealsOfClient', [account, 0n, 50n]),
        view('dealsOfProver', [account, 0n, 50n]),
      ]),
      ...holders.map((account) => ({
        to: chain.token,
        data: encodeFunctionData({ abi: tokenAbi, functionName: 'balanceOf', args: [account] }),
      })),
    ])
    const totals = decodeFunctionResult({ abi: marketplaceAbi, functionName: 'totals', data: answers[0] ?? '0x' })
    const sumOf = (amountOf: (deal: ModelDeal) => bigint) =>
      [...model.deals.values()].reduce((sum, deal) => sum + amountOf(deal), 0n)
    const expected = {
      escrowed: sumOf(({ remaining, extraPayment }) => remaining + extraPayment),
      earned: sumOf(({ earned }) => earned),
      refundable: sumOf(({ refundable }) => refundable),
      bonded: sumOf(({ bondLeft }) => bondLeft),
      forfeited: sumOf(({ forfeited }) => forfeited),
    }
    deepStrictEqual({ ...totals }, expected)
    const owed = totals.escrowed + totals.earned + totals.refundable + totals.bonded + totals.forfeited
    deepStrictEqual(token.balances.get(chain.market), owed, 'the balance of the contract is what it owes')
    for (const [index, account] of people.entries()) {
      for (const [offset, role] of (['client', 'prover'] as const).entries()) {
        const ids = [...model.deals]
          .filter(([, deal]) => (role === 'client' ? deal.client : deal.terms.prover) === account)
          .map(([dealId]) => dealId)
        const functionName = role === 'client' ? 'dealsOfClient' : 'dealsOfProver'
        const listed = decodeFunctionResult({
          abi: marketplaceAbi,
          functionName,
          data: answers[1 + 2 * index + offset] ?? '0x',
        })
        deepStrictEqual([...listed], ids.toReversed().slice(0, 50), `${functionName} of ${account}`)
      }
    }
    for (const [index, account] of holders.entries()) {
      deepStrictEqual(
        BigInt(answers[1 + 2 * people.length + index] ?? '0x'),
        token.balances.get(account),
        `balance of ${account}`,
      )
    }
  }

  async toToken(data: Hex): Promise<void> {
    const receipt = await this.chain.send(this.chain.accounts[0] ?? '0x', this.chain.token, data)
    if (!receipt.isSuccess) throw new Error('a call to the token failed')
    this.#passed(receipt)
  }

  /** The next block is so many seconds later than it would be. */
  async passSeconds(seconds: number): Promise<void> {
    const now = this.#newest.now + seconds
    await this.chain.rpc('evm_setNextBlockTimestamp', [now])
    await this.chain.rpc('evm_mine', [])
    this.#newest = { block: this.#newest.block + 1, now }
  }

  async mine(blocks: number): Promise<void> {
    for (let left = blocks; left > 0; left -= 100)
      await this.chain.rpc('anvil_mine', [`0x${Math.min(left, 100).toString(16)}`, '0x1'])
    this.#newest = await this.chain.newest()
  }

  termsHash(dealId: bigint, deal: ModelDeal): Hex {
    const { terms } = deal
    return dealTermsHash({
      ...{ chainId: 31_337, marketplace: this.chain.market, dealId, client: deal.client, prover: terms.prover },
      ...{
        commp: terms.commp,
        pieceSize: terms.pieceSize,
        leafCount: terms.leafCount,
        durationSeconds: terms.durationSeconds,
      },
      ...{
        payment: deal.remaining,
        bond: terms.bond,
        extraDurationSeconds: deal.extraSeconds,
        extraPayment: deal.extraPayment,
      },
    })
  }

  /** A permit of the third client for the contract. */
  async signPermit(value: bigint, deadline: bigint) {
    const index = this.chain.accounts.indexOf(this.permitClient)
    const nonceCall = encodeFunctionData({ abi: tokenAbi, functionName: 'nonces', args: [this.permitClient] })
    const [nonce] = await this.chain.read([{ to: this.chain.token, data: nonceCall }])
    const types = ['owner:address', 'spender:address', 'value:uint256', 'nonce:uint256', 'deadline:uint256']
    const { r, s, yParity } = parseSignature(
      await mnemonicToAccount(MNEMONIC, { addressIndex: index }).signTypedData({
        domain: { name: 'Hostile', version: '1', chainId: 31_337, verifyingContract: this.chain.token },
        types: { Permit: types.map((field) => ({ name: field.split(':')[0] ?? '', type: field.split(':')[1] ?? '' })) },
        primaryType: 'Permit',
        message: { owner: this.permitClient, spender: this.chain.market, value, nonce: BigInt(nonce ?? 0), deadline },
      }),
    )
    return { r, s, v: 27 + yParity }
  }

  async finish(): Promise<FuzzFigures> {
    const count = (functionName: 'calls' | 'callsThatWorked') => ({
      to: this.chain.token,
      data: encodeFunctionData({ abi: tokenAbi, functionName }),
    })
    const [calls, worked] = await this.chain.read([count('calls'), count('callsThatWorked')])
    deepStrictEqual(BigInt(worked ?? 1), 0n, 'no call from inside a transfer was taken')
    const deals = new Map<string, number>()
    for (const { state } of this.model.deals.values()) deals.set(state, (deals.get(state) ?? 0) + 1)
    return {
      actions: this.figures,
      deals,
      blocks: this.#newest.block,
      paidOut: this.#paidOut,
      reentries: BigInt(calls ?? 0),
    }
  }

  #passed({ block }: Receipt): void {
    this.#newest = { block, now: this.#newest.now + 1 }
  }

  #count(name: string, refusal: Refusal | undefined): void {
    const figures = this.figures.get(name) ?? { taken: 0, refused: 0 }
    this.figures.set(name, figures)
    if (refusal === undefined) figures.taken += 1
    else figures.refused += 1
  }

  #flow({ name, args }: { name: string; args: Record<string, unknown> }): void {
    const amount = (key: string) => args[key] as bigint
    const dealId = amount('dealId')
    const flow = this.#flows.get(dealId) ?? { in: 0n, out: 0n, bondIn: 0n, bondOut: 0n }
    this.#flows.set(dealId, flow)
    if (name === 'DealProposed') flow.in += amount('totalPayment')
    if (name === 'DealExtended') flow.in += amount('extraPayment')
    if (name === 'DealAccepted') flow.bondIn += amount('bond')
    if (name === 'DealWithdrawn') flow.out += amount('refund')
    if (name !== 'Paid') return
    flow.out += amount('pay')
    flow.bondOut += amount('bond')
    this.#paidOut += amount('pay') + amount('bond')
  }
}
