import {
  type Address,
  type ContractFunctionArgs,
  encodeFunctionData,
  type Hex,
  keccak256,
  zeroAddress,
  zeroHash,
} from 'viem'
import { marketplaceAbi } from '../../contracts.ts'
import { selectorOf } from '../error-selectors.ts'
import { type MarketCall, tokenAbi } from './fuzz-chain.ts'
import { FuzzProofs } from './fuzz-proofs.ts'
import { randomOf } from './fuzz-random.ts'
import type { MarketFuzz } from './market-fuzz.ts'
import type { ModelDeal, Terms } from './model-deal.ts'
import { Refusal } from './refusal.ts'

const PERIOD = 1_000

/** Everything that clients, provers, strangers, the token and time do, at random. */
export class FuzzActions {
  readonly #fuzz: MarketFuzz
  readonly #random: (end: number) => number
  readonly #proofs: FuzzProofs

  constructor(fuzz: MarketFuzz, seed: number, hardfork: string) {
    this.#fuzz = fuzz
    this.#random = randomOf(seed)
    this.#proofs = new FuzzProofs(fuzz, this.#random, hardfork)
  }

  async next(): Promise<void> {
    const kinds: readonly [number, () => Promise<void>][] = [
      [12, () => this.#propose()],
      [12, () => this.#accept()],
      [6, () => this.#extend()],
      [4, () => this.#end()],
      [3, () => this.#withdraw()],
      [5, () => this.#slash()],
      [8, () => this.#settle()],
      [9, () => this.#open()],
      [9, () => this.#openMany()],
      [9, () => this.#prove()],
      [14, () => this.#proveMany()],
      [9, () => this.#pass()],
      [4, () => this.#changeToken()],
    ]
    let at = this.#random(kinds.reduce((sum, [weight]) => sum + weight, 0))
    for (const [weight, act] of kinds) {
      if (at < weight) return act()
      at -= weight
    }
  }

  /** Thaws the token and brings every deal to its end. */
  async close(): Promise<void> {
    const fuzz = this.#fuzz
    await this.#toToken('callBack', [zeroAddress, '0x'])
    await this.#thaw()
    await fuzz.passSeconds(100 * PERIOD)
    for (const [dealId, { state }] of fuzz.model.deals) {
      if (state === 'Proposed')
        await this.#call('withdrawDeal', fuzz.stranger, [dealId], [dealId], (context) =>
          fuzz.model.withdraw(context, dealId),
        )
      else if (state !== 'Withdrawn')
        await this.#call('settle', fuzz.stranger, [dealId], [dealId], (context) => fuzz.model.settle(context, dealId))
    }
  }

  async #propose(): Promise<void> {
    const fuzz = this.#fuzz
    const proposals = Array.from({ length: this.#is(70) ? 1 : this.#random(4) }, () => this.#terms())
    const total = proposals.reduce((sum, { totalPayment }) => sum + totalPayment, 0n)
    const args = proposals.map(({ durationSeconds, ...terms }) => ({ ...terms, duration: BigInt(durationSeconds) }))
    if (this.#is(35)) return this.#proposeWithPermit(proposals, args, total)
    const client = this.#oneOf(fuzz.clients)
    const [only] = args
    if (args.length === 1 && only !== undefined && this.#is(50)) {
      return this.#call('proposeDeal', client, [], [only], (context) => fuzz.model.propose(context, proposals))
    }
    return this.#call('proposeDeals', client, [], [args], (context) => fuzz.model.propose(context, proposals))
  }

  /** Good, wrong, for too little, or sent by somebody else before. */
  async #proposeWithPermit(
    proposals: readonly Terms[],
    args: ContractFunctionArgs<typeof marketplaceAbi, 'nonpayable', 'proposeDeals'>[0],
    total: bigint,
  ): Promise<void> {
    const { model, token, permitClient, chain } = this.#fuzz
    const value = this.#is(20) ? total / 2n : total
    const deadline = 2n ** 40n
    const { v, r, s } = await this.#fuzz.signPermit(value, deadline)
    const isRight = !this.#is(15)
    if (isRight && this.#is(30)) {
      await this.#toToken('permit', [permitClient, chain.market, value, deadline, v, r, s])
      token.allowances.set(permitClient, value)
    }
    await this.#call(
      'proposeDealsWithPermit',
      permitClient,
      [],
      [args, value, deadline, isRight ? v : 55 - v, r, s],
      (context) => {
        if (isRight) token.allowances.set(permitClient, value)
        model.propose(context, proposals)
      },
    )
  }

  async #accept(): Promise<void> {
    const { model, provers } = this.#fuzz
    const [dealId, deal] = this.#deal('Proposed', ({ since }) => since + 3 * PERIOD > this.#now)
    const isRight = deal !== undefined && !this.#is(8)
    const hash = deal === undefined ? zeroHash : this.#fuzz.termsHash(dealId, deal)
    const prover = this.#caller(deal?.terms.prover, provers)
    const given = isRight ? hash : keccak256(hash)
    await this.#call('acceptDeal', prover, [dealId], [dealId, given], (context) =>
      model.accept(context, dealId, isRight),
    )
  }

  async #extend(): Promise<void> {
    const [dealId, deal] = this.#deal(this.#is(70) ? 'Active' : 'Proposed', this.#isRunning)
    const seconds = this.#is(5) ? 0 : this.#is(30) ? 1 + this.#random(50) : 1 + this.#random(3 * PERIOD)
    const pay = this.#amount()
    const client = this.#caller(deal?.client, this.#fuzz.clients)
    await this.#call('extendDeal', client, [dealId], [dealId, BigInt(seconds), pay], (context) =>
      this.#fuzz.model.extend(context, dealId, seconds, pay),
    )
  }

  async #end(): Promise<void> {
    const [dealId, deal] = this.#deal(this.#is(80) ? 'Active' : 'Proposed', this.#isRunning)
    const client = this.#caller(deal?.client, this.#fuzz.clients)
    await this.#call('endDeal', client, [dealId], [dealId], (context) => this.#fuzz.model.end(context, dealId))
  }

  async #withdraw(): Promise<void> {
    const [dealId, deal] = this.#deal('Proposed')
    const caller = this.#is(60) ? (deal?.client ?? this.#fuzz.stranger) : this.#fuzz.stranger
    await this.#call('withdrawDeal', caller, [dealId], [dealId], (context) =>
      this.#fuzz.model.withdraw(context, dealId),
    )
  }

  async #slash(): Promise<void> {
    const [dealId] = this.#deal(
      'Active',
      (each) => each.accountedUntil < each.termEnd && each.accountedUntil + PERIOD <= this.#now,
    )
    await this.#call('slash', this.#fuzz.stranger, [dealId], [dealId], (context) =>
      this.#fuzz.model.slash(context, dealId),
    )
  }

  async #settle(): Promise<void> {
    const [dealId] = this.#deal(this.#is(80) ? 'Active' : this.#is(50) ? 'Settled' : 'Slashed')
    await this.#call('settle', this.#fuzz.stranger, [dealId], [dealId], (context) =>
      this.#fuzz.model.settle(context, dealId),
    )
  }

  async #open(): Promise<void> {
    const [dealId, deal] = this.#deal('Active', (each) => each.seedBlock === 0 && this.#isCurrent(each))
    const prover = this.#caller(deal?.terms.prover, this.#fuzz.provers)
    await this.#call('openChallenge', prover, [dealId], [dealId], (context) => {
      const reason = this.#fuzz.model.openChallenge(context, dealId)
      if (reason !== undefined) throw new Refusal(reason)
    })
  }

  async #openMany(): Promise<void> {
    const prover = this.#oneOf(this.#fuzz.provers)
    const ids = this.#dealsFor(prover, 1 + this.#random(8))
    await this.#call('openMany', prover, ids, [ids], (context) => {
      for (const dealId of ids) {
        const reason = this.#fuzz.model.openChallenge(context, dealId)
        if (reason !== undefined) this.#fuzz.model.skip(dealId, selectorOf(reason))
      }
    })
  }

  async #prove(): Promise<void> {
    const [dealId, deal] = this.#deal('Active', (each) => each.seedBlock > 0 && this.#isCurrent(each))
    const prover = this.#caller(deal?.terms.prover, this.#fuzz.provers)
    const header = await this.#proofs.headerFor(deal)
    const { nodes, isRight } = await this.#proofs.nodesFor(dealId, deal, header.seed)
    await this.#call('prove', prover, [dealId], [dealId, header.header, nodes], (context) => {
      const proof = {
        isHeaderRight: header.block === deal?.seedBlock,
        isRight,
        oldestBlock: this.#proofs.oldestBlock(context.block),
      }
      const reason = this.#fuzz.model.prove(context, dealId, proof)
      if (reason !== undefined) throw new Refusal(reason)
    })
  }

  async #proveMany(): Promise<void> {
    const { model, provers } = this.#fuzz
    const prover = this.#oneOf(provers)
    const ids = this.#dealsFor(prover, 1 + this.#random(6))
    const headers: { block: number; header: Hex; seed: Hex }[] = []
    const proofs: { dealId: bigint; header: bigint; nodes: readonly Hex[]; isRight: boolean; block: number }[] = []
    for (const dealId of ids) {
      const deal = model.deals.get(dealId)
      const wanted = await this.#proofs.headerFor(deal)
      let index = headers.findIndex(({ block }) => block === wanted.block)
      if (index === -1) index = headers.push(wanted) - 1
      const { nodes, isRight } = await this.#proofs.nodesFor(dealId, deal, wanted.seed)
      const isBeyond = this.#is(2)
      proofs.push({
        dealId,
        header: BigInt(isBeyond ? 99 : index),
        nodes,
        isRight,
        block: isBeyond ? -1 : wanted.block,
      })
    }
    const args = [
      headers.map(({ header }) => header),
      proofs.map(({ dealId, header, nodes }) => ({ dealId, header, nodes })),
    ] as const
    await this.#call('proveMany', prover, ids, args, (context) => {
      for (const { dealId, isRight, block } of proofs) {
        const isHeaderRight = block === model.deals.get(dealId)?.seedBlock
        const oldestBlock = this.#proofs.oldestBlock(context.block)
        const reason = model.prove(context, dealId, {
          isWithoutHeader: block === -1,
          isHeaderRight,
          isRight,
          oldestBlock,
        })
        if (reason !== undefined) model.skip(dealId, selectorOf(reason))
      }
    })
  }

  async #pass(): Promise<void> {
    if (this.#is(3)) return this.#fuzz.mine(1 + this.#random(320))
    const seconds = this.#is(15) ? this.#random(4 * PERIOD) : 1 + this.#random(PERIOD / 3)
    await this.#fuzz.passSeconds(1 + seconds)
  }

  async #changeToken(): Promise<void> {
    const { token, clients, provers, chain, model } = this.#fuzz
    if (token.isPaused || (token.frozen.size > 0 && this.#is(40))) return this.#thaw()
    const account = this.#oneOf([...clients, ...provers])
    const kind = this.#random(10)
    if (kind < 3) {
      const isNow = !token.frozen.has(account) && token.frozen.size < 2
      await this.#toToken('freeze', [account, isNow])
      if (isNow) token.frozen.add(account)
      else token.frozen.delete(account)
    } else if (kind === 3) {
      token.isPaused = true
      await this.#toToken('pause', [true])
    } else if (kind === 4) {
      await this.#toToken('fail', [this.#is(50)])
    } else {
      // A call that the contract would take from anybody, or from the token as a client or prover.
      const [dealId] = this.#deal(this.#is(50) ? 'Active' : 'Proposed')
      const calls = ['settle', 'slash', 'withdrawDeal', 'openChallenge', 'endDeal'] as const
      const data = encodeFunctionData({ abi: marketplaceAbi, functionName: this.#oneOf(calls), args: [dealId] })
      const many = encodeFunctionData({
        abi: marketplaceAbi,
        functionName: 'openMany',
        args: [[...model.deals.keys()].slice(-2)],
      })
      await this.#toToken('callBack', [chain.market, this.#is(70) ? data : many])
    }
  }

  async #thaw(): Promise<void> {
    const { token } = this.#fuzz
    if (token.isPaused) await this.#toToken('pause', [false])
    for (const account of token.frozen) await this.#toToken('freeze', [account, false])
    token.isPaused = false
    token.frozen.clear()
  }

  #terms(): Terms {
    const piece = this.#oneOf(this.#proofs.pieces)
    return {
      ...{ prover: this.#oneOf(this.#fuzz.provers), commp: piece.commp, pieceSize: piece.pieceSize },
      leafCount: this.#is(2) ? 0n : this.#is(2) ? piece.pieceSize / 32n + 1n : piece.leafCount,
      durationSeconds: this.#is(3) ? this.#random(PERIOD) : PERIOD + this.#random(this.#is(30) ? 500 : 6 * PERIOD),
      totalPayment: this.#amount(),
      bond: this.#is(45) ? 0n : this.#amount(),
    }
  }

  get #now(): number {
    return this.#fuzz.contextOf(this.#fuzz.stranger).now
  }

  readonly #isRunning = ({ termEnd, isEnding }: ModelDeal): boolean => termEnd > this.#now && !isEnding

  /** The period that the contract has as current is the one that runs. */
  #isCurrent({ accountedUntil }: ModelDeal): boolean {
    return accountedUntil <= this.#now && this.#now < accountedUntil + PERIOD
  }

  #amount(): bigint {
    return this.#is(12) ? 0n : BigInt(this.#random(this.#is(30) ? 20 : 1_000_000))
  }

  #is(percent: number): boolean {
    return this.#random(100) < percent
  }

  #oneOf<Item>(items: readonly Item[]): Item {
    const item = items[this.#random(items.length)]
    if (item === undefined) throw new Error('a list is empty')
    return item
  }

  /** Usually the one who may, at times anybody. */
  #caller(own: Address | undefined, others: readonly Address[]): Address {
    return own === undefined || this.#is(6) ? this.#oneOf([...others, this.#fuzz.stranger]) : own
  }

  /** Usually a recent deal in a state; at times any deal, or none. */
  #deal(
    state: ModelDeal['state'],
    isWanted: (deal: ModelDeal) => boolean = () => true,
  ): readonly [bigint, ModelDeal | undefined] {
    const { deals, lastDealId } = this.#fuzz.model
    const recent = this.#recent().filter(([, deal]) => deal.state === state)
    const wanted = recent.filter(([, deal]) => isWanted(deal))
    if (wanted.length > 0 && !this.#is(6)) return this.#oneOf(wanted)
    const dealId = lastDealId - BigInt(this.#random(30)) + 2n
    return [dealId, deals.get(dealId)]
  }

  #recent(): [bigint, ModelDeal][] {
    const { deals, lastDealId } = this.#fuzz.model
    const recent: [bigint, ModelDeal][] = []
    for (let dealId = lastDealId; dealId > lastDealId - 60n; dealId -= 1n) {
      const deal = deals.get(dealId)
      if (deal !== undefined) recent.push([dealId, deal])
    }
    return recent
  }

  /** Mostly active deals of a prover, some twice, some of others. */
  #dealsFor(prover: Address, count: number): bigint[] {
    const own = this.#recent().filter(([, deal]) => deal.state === 'Active' && deal.terms.prover === prover)
    return Array.from({ length: count }, () =>
      own.length > 0 && !this.#is(10) ? this.#oneOf(own)[0] : this.#deal('Active')[0],
    )
  }

  async #toToken(
    functionName: 'pause' | 'fail' | 'freeze' | 'callBack' | 'permit',
    args: readonly unknown[],
  ): Promise<void> {
    // biome-ignore lint/suspicious/noExplicitAny: five calls in one.
    await this.#fuzz.toToken(encodeFunctionData({ abi: tokenAbi, functionName, args } as any))
  }

  async #call<Name extends MarketCall>(
    functionName: Name,
    caller: Address,
    ids: readonly bigint[],
    args: ContractFunctionArgs<typeof marketplaceAbi, 'nonpayable', Name>,
    act: Parameters<MarketFuzz['compare']>[4],
  ): Promise<void> {
    // biome-ignore lint/suspicious/noExplicitAny: viem cannot follow a name that is generic; the arguments are exact.
    const data = encodeFunctionData({ abi: marketplaceAbi, functionName, args } as any)
    await this.#fuzz.compare(functionName, caller, ids, data, act)
  }
}
