import type { FastifyBaseLogger } from 'fastify'
import type { HeldPiece, PieceStore } from '../pieces/piece-store.ts'
import type { ChainAccount } from './chain-account.ts'
import type { ChainLimits } from './chain-limits.ts'
import { ChainPace } from './chain-pace.ts'
import { pieceOfDeal } from './check-piece.ts'
import { type CallKind, type Deal, type Head, isPastProving, nameOf, stepOf } from './deal.ts'
import type { DealMetrics } from './deal-metrics.ts'
import { DealSelection, type DealTask } from './deal-selection.ts'
import { DealSender } from './deal-sender.ts'
import { DealWatch } from './deal-watch.ts'
import { FeeTooHighError } from './fees.ts'
import type { FollowedContract } from './followed-contract.ts'
import { GasUse } from './gas-use.ts'
import type { Marketplace } from './marketplace/marketplace.ts'
import { planRound } from './round-plan.ts'

export interface DealKeeperOptions {
  readonly chain: ChainAccount
  readonly store: PieceStore
  readonly limits: ChainLimits
  readonly metrics: DealMetrics
  readonly settledPeriods?: bigint | undefined
  readonly log?: FastifyBaseLogger | undefined
}

/** Does what the deals of one prover ask for, a look at the chain at a time. */
export class DealKeeper {
  readonly #options: DealKeeperOptions
  readonly #contracts: FollowedContract[] = []
  readonly #selection: DealSelection
  readonly #sender: DealSender
  readonly #pace = new ChainPace()
  /** The block with which nothing is left to do. */
  #doneAt: string | undefined
  #head: Head | undefined
  /** What part of a transaction the answers to challenges will take that are open and not drawn yet, by the names of their deals. */
  readonly #undrawn = new Map<string, number>()
  /** The pieces of accepted deals, which have to be kept, by the names of the deals. */
  readonly #promised = new Map<string, HeldPiece>()

  constructor(options: DealKeeperOptions) {
    this.#options = options
    this.#selection = new DealSelection(options)
    const onTaken = () => this.#goOn()
    this.#sender = new DealSender({ ...options, selection: this.#selection, pace: this.#pace, onTaken })
  }

  /** Has a contract's deals served from the next round on. @param firstDealId - all deals before it ask nothing. */
  follow(marketplace: Marketplace, firstDealId: bigint): void {
    const watch = new DealWatch(firstDealId)
    this.#contracts.push({ marketplace, watch, gasUse: new GasUse(marketplace.expectedGas) })
    this.#doneAt = undefined
  }

  /** Of each contract the first deal that may ask something; all before it never will. */
  get firstDealIds(): ReadonlyMap<string, bigint> {
    return new Map(this.#contracts.map(({ marketplace, watch }) => [marketplace.address, watch.firstDealId]))
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
    const { chain, metrics, limits } = this.#options
    const head = await chain.head()
    if (head.hash === this.#doneAt) return
    this.#head = head
    this.#pace.seeHead(head)
    const { weiPerGas } = await chain.fees()
    metrics.weiPerGas = weiPerGas
    const tasks = await this.#tasksAt(head, weiPerGas)
    metrics.waitingCalls = tasks.length
    this.#doneAt = undefined
    try {
      if (tasks.length === 0) this.#goOn()
      else if (weiPerGas > limits.mostWeiPerGas) throw new FeeTooHighError(weiPerGas)
      const undrawn = [...this.#undrawn.values()].reduce((sum, share) => sum + share, 0)
      const plan = planRound(tasks, this.#pace.at(head), undrawn)
      const isDone = await this.#sender.send(plan, head, signal)
      if (isDone && (plan.length === tasks.length || plan.length === 0)) this.#doneAt = head.hash
    } catch (error) {
      if (!(error instanceof FeeTooHighError)) throw error
      this.#waitForFees(error.weiPerGas)
      // Fees change from block to block.
      if (weiPerGas > limits.mostWeiPerGas) this.#doneAt = head.hash
    }
  }

  /** What is to be done about the deals that are due, of all contracts; the rest is noted. */
  async #tasksAt(head: Head, weiPerGas: bigint): Promise<DealTask[]> {
    const asked: DealTask[] = []
    for (const contract of this.#contracts) {
      const { marketplace, watch } = contract
      const dealIds = watch.due(await marketplace.lastDealId(), head.time)
      for await (const deals of marketplace.deals(dealIds)) {
        for (const deal of deals) {
          const task = this.#taskOf(contract, deal, head)
          if (task === undefined) continue
          watch.isRead(deal)
          asked.push(task)
        }
      }
    }
    const isComplete = this.#contracts.every(({ watch }) => watch.isComplete)
    const tasks = asked.filter((task) => this.#selection.isChosen(task, head, { weiPerGas, isComplete }))
    this.#selection.report(this.#contracts)
    return tasks
  }

  #taskOf(contract: FollowedContract, deal: Deal, head: Head): DealTask | undefined {
    const { chain, settledPeriods } = this.#options
    const { marketplace, watch } = contract
    if (deal.prover !== chain.address) {
      this.#drop(deal)
      // An hour after a deal was proposed its prover is certain.
      watch.isIdle(deal, head.time, deal.since)
      return undefined
    }
    this.#promise(contract, deal, head)
    const step = stepOf(deal, head, marketplace.terms, settledPeriods)
    if (step.kind === 'over') {
      this.#drop(deal)
      watch.isIdle(deal, head.time)
      return undefined
    }
    this.#selection.see(deal)
    this.#undrawn.delete(nameOf(deal))
    const task = { deal, contract, until: Number.POSITIVE_INFINITY, ...this.#sharesOf(contract, deal, step.kind, head) }
    if (step.kind !== 'wait') return { ...task, ...step }
    if (step.isUndrawn) this.#undrawn.set(nameOf(deal), task.answerShare)
    watch.readAgain(deal, step.until, head.time)
    return undefined
  }

  #sharesOf(contract: FollowedContract, deal: Deal, kind: DealTask['kind'] | 'wait', head: Head) {
    const shareOf = (call: CallKind) => this.#sender.shareOf(contract, call, deal, head)
    const { drawBlocks } = contract.marketplace.terms
    switch (kind) {
      case 'open':
      case 'reopen':
        return { share: shareOf('open'), answerShare: shareOf('prove'), drawBlocks }
      case 'wait':
        return { share: 0, answerShare: shareOf('prove'), drawBlocks }
      case 'accept':
      case 'prove':
      case 'settle':
        return { share: shareOf(kind), answerShare: 0, drawBlocks }
    }
  }

  #promise({ marketplace }: FollowedContract, deal: Deal, { time }: Head): void {
    const isProvable = deal.state === 'active' && !isPastProving(deal, time, marketplace.terms)
    const piece = this.#promised.get(nameOf(deal)) ?? pieceOfDeal(this.#options.store, deal)
    if (isProvable && piece !== undefined) this.#promised.set(nameOf(deal), piece)
    else this.#promised.delete(nameOf(deal))
  }

  #drop(deal: Deal): void {
    this.#promised.delete(nameOf(deal))
    this.#undrawn.delete(nameOf(deal))
    this.#sender.drop(deal)
    this.#selection.drop(deal)
  }

  #waitForFees(weiPerGas: bigint): void {
    const { log, metrics, limits } = this.#options
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
