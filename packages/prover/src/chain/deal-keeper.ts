import { hex0xOf } from '@lade/node/hashing/hex'
import type { FastifyBaseLogger } from 'fastify'
import { BaseError } from 'viem'
import type { HeldPiece, PieceStore } from '../pieces/piece-store.ts'
import { proveLeaf } from '../proving/prove-leaf.ts'
import type { ChainLimits } from './chain-limits.ts'
import { ChainPace } from './chain-pace.ts'
import { isIntact, pieceOfDeal } from './check-piece.ts'
import { type Deal, type Head, isPastProving, stepOf, type Terms } from './deal.ts'
import type { DealMetrics } from './deal-metrics.ts'
import { DealSelection } from './deal-selection.ts'
import { DealWatch } from './deal-watch.ts'
import { FeeTooHighError } from './fees.ts'
import { GasUse } from './gas-use.ts'
import type { Marketplace, ProverCall } from './marketplace.ts'
import { type DealTask, planRound } from './round-plan.ts'
import type { SendResult } from './transactions.ts'
import { WrongChainError } from './wrong-chain-error.ts'

/** A deal that could not be served is looked at again after this, in seconds. */
const RETRY_SECONDS = 30
/**
 * After so many blocks with other calls a round ends, so that the next one can answer the challenges that were opened at its beginning.
 * However fast the chain is and however slow a transaction, they are far from lapsing then.
 */
const ROUND_BLOCKS = 64n

export interface DealKeeperOptions {
  readonly marketplace: Marketplace
  readonly store: PieceStore
  readonly terms: Terms
  readonly limits: ChainLimits
  readonly metrics: DealMetrics
  /** All deals before it ask nothing. */
  readonly firstDealId: bigint
  readonly settledPeriods?: bigint | undefined
  readonly log?: FastifyBaseLogger | undefined
}

/** Does what the deals of one prover ask for, a look at the chain at a time. */
export class DealKeeper {
  readonly #options: DealKeeperOptions
  readonly #watch: DealWatch
  readonly #selection: DealSelection
  readonly #gasUse = new GasUse()
  readonly #pace = new ChainPace()
  /** The block with which nothing is left to do. */
  #doneAt: string | undefined
  #head: Head | undefined
  /** The pieces of accepted deals, which have to be kept. */
  readonly #promised = new Map<bigint, HeldPiece>()
  /** Pieces whose bytes were read and were right. */
  readonly #intact = new Set<string>()

  constructor(options: DealKeeperOptions) {
    this.#options = options
    this.#watch = new DealWatch(options.firstDealId)
    this.#selection = new DealSelection({ ...options, watch: this.#watch, gasUse: this.#gasUse })
  }

  /** All deals before it ask nothing, and never will. */
  get firstDealId(): bigint {
    return this.#watch.firstDealId
  }

  /** The newest block that was looked at; undefined before the first. */
  get headHash(): `0x${string}` | undefined {
    return this.#head?.hash
  }

  /** Counts on the pieces of the accepted deals. */
  wantPieces(): void {
    for (const { pieceCid } of this.#promised.values()) this.#options.store.want(pieceCid)
  }

  /**
   * Looks at the chain if it has a new block or something is left to do, and sends what fits into a round, one transaction after the other.
   *
   * @throws {BaseError} of viem, when the chain cannot be asked; what was not done is found again by the next round.
   */
  async round(signal: AbortSignal): Promise<void> {
    const { marketplace, metrics, limits } = this.#options
    const head = await marketplace.head()
    if (head.hash === this.#doneAt) return
    this.#head = head
    this.#pace.seeHead(head)
    const { weiPerGas } = await marketplace.fees()
    metrics.weiPerGas = weiPerGas
    const tasks = await this.#tasksAt(head, weiPerGas)
    metrics.waitingCalls = tasks.length
    this.#doneAt = undefined
    try {
      if (tasks.length === 0) this.#goOn()
      else if (weiPerGas > limits.mostWeiPerGas) throw new FeeTooHighError(weiPerGas)
      const plan = planRound(tasks, this.#pace.at(head))
      const isDone = await this.#send(plan, head, signal)
      if (isDone && plan.length === tasks.length) this.#doneAt = head.hash
    } catch (error) {
      if (!(error instanceof FeeTooHighError)) throw error
      this.#waitForFees(error.weiPerGas)
      // Fees change from block to block.
      if (weiPerGas > limits.mostWeiPerGas) this.#doneAt = head.hash
    }
  }

  /** What is to be done about the deals that are due; the rest is noted. */
  async #tasksAt(head: Head, weiPerGas: bigint): Promise<DealTask[]> {
    const { marketplace } = this.#options
    const dealIds = this.#watch.due(await marketplace.lastDealId(), head.time)
    const tasks: DealTask[] = []
    for await (const deals of marketplace.deals(dealIds)) {
      for (const deal of deals) {
        const task = this.#taskOf(deal, head, weiPerGas)
        if (task === undefined) continue
        this.#watch.isRead(deal)
        tasks.push(task)
      }
    }
    this.#selection.report()
    return tasks
  }

  #taskOf(deal: Deal, head: Head, weiPerGas: bigint): DealTask | undefined {
    const { marketplace, terms, settledPeriods } = this.#options
    if (deal.prover !== marketplace.prover) {
      this.#drop(deal)
      // An hour after a deal was proposed its prover is certain.
      this.#watch.isIdle(deal, head.time, deal.since)
      return undefined
    }
    this.#promise(deal, head)
    const step = stepOf(deal, head, terms, settledPeriods)
    if (step.kind === 'over') {
      this.#drop(deal)
      this.#watch.isIdle(deal, head.time)
      return undefined
    }
    this.#selection.see(deal)
    if (step.kind !== 'wait') {
      const task = { deal, until: Number.POSITIVE_INFINITY, ...step }
      return this.#selection.isChosen(task, head, weiPerGas) ? task : undefined
    }
    this.#watch.readAgain(deal, step.until, head.time)
    return undefined
  }

  /** False when something was left for the next round. */
  async #send(plan: readonly DealTask[], head: Head, signal: AbortSignal): Promise<boolean> {
    let blockNumber = head.number
    let begunAt: bigint | undefined
    for (const task of plan) {
      const isProof = task.kind === 'prove'
      if (!isProof && begunAt !== undefined && blockNumber >= begunAt + ROUND_BLOCKS) return false
      const result = await this.#serve(task, head, signal)
      if (result === undefined || result.outcome === 'lost') continue
      this.#pace.seeTransaction(result.blockNumber - blockNumber)
      blockNumber = result.blockNumber
      if (!isProof) begunAt ??= blockNumber
    }
    return true
  }

  /** Undefined when nothing was sent. */
  async #serve(task: DealTask, head: Head, signal: AbortSignal): Promise<SendResult | undefined> {
    signal.throwIfAborted()
    const { log, marketplace, metrics } = this.#options
    const { deal, kind } = task
    const retryAt = head.time + RETRY_SECONDS
    try {
      const call = await this.#callOf(task)
      // The node may lag behind the one that knew of the challenge. Every block counts.
      if (call === 'undrawn') return void this.#watch.readAgain(deal, head.time, head.time)
      if (call === undefined) return void this.#watch.readAgain(deal, retryAt, head.time)
      const result = await marketplace.send(call, signal)
      if ('refused' in result) {
        // A challenge that lapsed takes the rest of its period with it, where the contract does not open another.
        if (kind !== 'prove') this.#watch.readAgain(deal, kind === 'reopen' ? task.until : retryAt, head.time)
        this.#sayRejected(deal, call, result.refused)
        return undefined
      }
      this.#goOn()
      metrics.waitingCalls -= 1
      metrics.countTransaction(call.functionName, result.outcome, result.outcome === 'lost' ? 0n : result.costWei)
      if (result.outcome === 'landed') {
        this.#gasUse.note(call.functionName, result.gasUsed)
        if (kind === 'settle') this.#selection.isSettled(deal, head)
        log?.info({ dealId: String(deal.dealId), call: call.functionName }, 'a deal advanced')
      } else this.#sayRejected(deal, call, result.outcome)
      return result
    } catch (error) {
      if (isOfTheChain(error) || signal.aborted) throw error
      this.#watch.readAgain(deal, retryAt, head.time)
      log?.error({ dealId: String(deal.dealId), err: error }, 'could not process a deal')
      return undefined
    }
  }

  /** Undefined when the piece is not there as it should be, or nothing is asked any more. */
  async #callOf({ deal, kind }: DealTask): Promise<ProverCall | 'undrawn' | undefined> {
    const args = [deal.dealId] as const
    if (kind === 'settle') return { functionName: 'settle', args }
    const piece = pieceOfDeal(this.#options.store, deal)
    if (piece === undefined) return undefined
    if (kind === 'open' || kind === 'reopen') return { functionName: 'openChallenge', args }
    if (kind === 'prove') return this.#proofOf(deal, piece)
    if (await this.#isIntact(piece)) return { functionName: 'acceptDeal', args }
    return this.#selection.sayOnce(deal, 'rotten', 'a deal was not accepted: its piece is not stored')
  }

  async #proofOf(deal: Deal, piece: HeldPiece): Promise<ProverCall | 'undrawn' | undefined> {
    const { marketplace, store } = this.#options
    const leafIndex = await marketplace.challengedLeaf(deal.dealId)
    if (typeof leafIndex !== 'bigint') {
      this.#selection.sayOnce(deal, leafIndex.refused, 'there is no challenge to prove')
      return 'undrawn'
    }
    const made = await proveLeaf(store, piece, Number(leafIndex))
    if (typeof made === 'string') {
      return this.#selection.sayOnce(deal, made, 'a deal cannot be proved: its piece is damaged')
    }
    return { functionName: 'prove', args: [deal.dealId, hex0xOf(made.leaf), made.proof.map(hex0xOf)] }
  }

  async #isIntact(piece: HeldPiece): Promise<boolean> {
    if (this.#intact.has(piece.pieceCid)) return true
    const isRight = await isIntact(this.#options.store, piece)
    if (isRight) this.#intact.add(piece.pieceCid)
    return isRight
  }

  #promise(deal: Deal, { time }: Head): void {
    const isProvable = deal.state === 'active' && !isPastProving(deal, time, this.#options.terms)
    const piece = this.#promised.get(deal.dealId) ?? pieceOfDeal(this.#options.store, deal)
    if (isProvable && piece !== undefined) this.#promised.set(deal.dealId, piece)
    else this.#promised.delete(deal.dealId)
  }

  #drop(deal: Deal): void {
    this.#promised.delete(deal.dealId)
    this.#selection.drop(deal)
  }

  #sayRejected(deal: Deal, { functionName }: ProverCall, reason: string): void {
    this.#selection.sayOnce(deal, `${functionName}: ${reason}`, 'the chain rejected a call')
  }

  #waitForFees(weiPerGas: bigint): void {
    const { limits, log, metrics } = this.#options
    metrics.weiPerGas = weiPerGas
    if (!metrics.become('fees_too_high')) return
    const fees = { weiPerGas: String(weiPerGas), mostWeiPerGas: String(limits.mostWeiPerGas) }
    log?.warn(
      { ...fees, waiting: metrics.waitingCalls },
      'transactions wait: gas costs more than LADE_PROVER_FEE_CAP_GWEI',
    )
  }

  #goOn(): void {
    const { log, metrics } = this.#options
    const wasWaiting = metrics.state === 'fees_too_high'
    metrics.become('following')
    if (wasWaiting) log?.info('transactions are sent again')
  }
}

/** True when the next deal would fail in the same way. */
function isOfTheChain(error: unknown): boolean {
  return error instanceof BaseError || error instanceof FeeTooHighError || error instanceof WrongChainError
}
