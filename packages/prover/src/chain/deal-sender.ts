import type { FastifyBaseLogger } from 'fastify'
import { BaseError } from 'viem'
import type { PieceStore } from '../pieces/piece-store.ts'
import { type ChainAccount, type EncodedCall, isOfTheChain, isUnheard, type Refused } from './chain-account.ts'
import type { ChainLimits } from './chain-limits.ts'
import type { ChainPace } from './chain-pace.ts'
import { type CallKind, type Deal, type Head, nameOf } from './deal.ts'
import { DealCalls, proofsWithin, type ReadyTask } from './deal-calls.ts'
import type { DealMetrics } from './deal-metrics.ts'
import { type DealSelection, type DealTask, namedDeals } from './deal-selection.ts'
import type { FollowedContract } from './followed-contract.ts'
import { dealsWithin, gasLimitOf, mostGasOf } from './gas-limit.ts'
import type { DealProof, ProverCall } from './marketplace/marketplace.ts'
import type { MinedResult, SendResult } from './transactions.ts'

/**
 * After so many blocks with other calls a round ends, so that the next one can answer the challenges that were opened at its beginning.
 * However fast the chain is and however slow a transaction, they are far from lapsing then.
 */
const ROUND_BLOCKS = 64n

export interface DealSenderOptions {
  readonly chain: ChainAccount
  readonly store: PieceStore
  readonly limits: ChainLimits
  readonly metrics: DealMetrics
  readonly selection: DealSelection
  readonly pace: ChainPace
  readonly log?: FastifyBaseLogger | undefined
  /** Called when the chain took a transaction. */
  readonly onTaken: () => void
}

/** Sends what a round has planned, one transaction after the other, each for as many deals as its contract and its gas allow. */
export class DealSender {
  readonly #options: DealSenderOptions
  readonly #calls: DealCalls
  /** The names of deals that a call for many left out. */
  readonly #leftOut = new Set<string>()

  constructor(options: DealSenderOptions) {
    this.#options = options
    this.#calls = new DealCalls(options)
  }

  /** The part of a transaction that a call for a deal takes, as far as that can be told. */
  shareOf(contract: FollowedContract, kind: CallKind, deal: Deal, head: Head): number {
    const deals = this.#dealsWithin(contract, kind, head)
    return 1 / (kind === 'prove' ? Math.min(deals, proofsWithin(deal, contract)) : deals)
  }

  #dealsWithin({ marketplace, gasUse }: FollowedContract, kind: CallKind, head: Head): number {
    return marketplace.takesMany(kind) ? dealsWithin(gasUse.of(kind), head, this.#options.limits.mostGasForMany) : 1
  }

  /** Notes that a deal asks nothing any more. */
  drop(deal: Deal): void {
    this.#leftOut.delete(nameOf(deal))
  }

  /** False when something was left for the next round. */
  async send(plan: readonly DealTask[], head: Head, signal: AbortSignal): Promise<boolean> {
    let blockNumber = head.number
    let begunAt: bigint | undefined
    let left = [...plan]
    for (let [first] = left; first !== undefined; [first] = left) {
      const isProof = first.kind === 'prove'
      if (!isProof && begunAt !== undefined && blockNumber >= begunAt + ROUND_BLOCKS) return false
      const { tasks, others } = this.#takeBatch(first, left, head)
      const { ready, left: unserved } = await this.#calls.prepare(tasks, head)
      left = [...unserved, ...others]
      const { result, left: unsent } = await this.#serve(ready, head, signal)
      left.unshift(...unsent)
      if (result === undefined || result.outcome === 'lost') continue
      this.#options.pace.seeTransaction(result.blockNumber - blockNumber)
      blockNumber = result.blockNumber
      if (!isProof) begunAt ??= blockNumber
    }
    return true
  }

  /** Those that one transaction can serve with the first, from anywhere behind it. */
  #takeBatch(first: DealTask, left: readonly DealTask[], head: Head): { tasks: DealTask[]; others: DealTask[] } {
    const most = this.#isAlone(first) ? 1 : this.#dealsWithin(first.contract, kindOf(first), head)
    const tasks: DealTask[] = []
    const others: DealTask[] = []
    for (const task of left) {
      const isAlike = task.contract === first.contract && task.kind === first.kind && !this.#isAlone(task)
      if (task === first || (isAlike && tasks.length < most)) tasks.push(task)
      else others.push(task)
    }
    return { tasks, others }
  }

  /** The contract tells what it would refuse only of a call for a single deal. */
  #isAlone({ kind, deal }: DealTask): boolean {
    return kind === 'reopen' || this.#leftOut.has(nameOf(deal))
  }

  /** Without a result when nothing was sent. */
  async #serve(
    ready: readonly ReadyTask[],
    head: Head,
    signal: AbortSignal,
  ): Promise<{ readonly result?: SendResult; readonly left: DealTask[] }> {
    const [first] = ready
    if (first === undefined) return { left: [] }
    signal.throwIfAborted()
    const { chain, limits, metrics } = this.#options
    const { marketplace, gasUse } = first.task.contract
    const kind = kindOf(first.task)
    const call = marketplace.encode(callOf(kind, ready))
    try {
      const unbonded = kind === 'accept' ? await this.#allowBond(first.task, head, signal) : undefined
      if (unbonded !== undefined) return this.#refused(ready, head, call.functionName, unbonded)
      const expected = await this.#estimate(call, ready.length)
      const most = mostGasOf(ready.length, head, limits.mostGasForMany)
      const gas = typeof expected === 'bigint' ? gasLimitOf(expected, most) : undefined
      if (gas === undefined && ready.length > 1) {
        if (typeof expected === 'bigint') gasUse.note(kind, expected, ready.length)
        return this.#serveHalf(ready, head, signal)
      }
      if (typeof expected !== 'bigint') return this.#refused(ready, head, call.functionName, expected.refused)
      if (gas === undefined) return this.#refused(ready, head, call.functionName, 'needs more gas than a block has')
      const result = await chain.send(call, gas, signal)
      this.#options.onTaken()
      metrics.waitingCalls -= ready.length
      const costWei = result.outcome === 'lost' ? 0n : result.costWei
      metrics.countTransaction(marketplace.address, call.functionName, result.outcome, costWei)
      if (result.outcome === 'landed') this.#landed(ready, head, call.functionName, result)
      else this.#sayAllRejected(ready, call.functionName, result.outcome)
      return { result, left: [] }
    } catch (error) {
      if (isOfTheChain(error) || signal.aborted) throw error
      this.#retryLater(ready, head)
      this.#options.log?.error({ ...namesOf(ready), err: error }, 'could not process a deal')
      return { left: [] }
    }
  }

  /** Undefined when the contract may take the deal's bond, or why it may not. */
  async #allowBond({ deal, contract }: DealTask, head: Head, signal: AbortSignal): Promise<string | undefined> {
    if (deal.bond === 0n) return undefined
    const { chain, limits, metrics, selection } = this.#options
    const { marketplace } = contract
    const call = await marketplace.allowBond(deal.bond, limits.mostBond - selection.bonded)
    if (call === undefined) return undefined
    if ('refused' in call) return call.refused
    const expected = await chain.estimateGas(call)
    if (typeof expected !== 'bigint') return expected.refused
    const gas = gasLimitOf(expected, mostGasOf(1, head, limits.mostGasForMany))
    if (gas === undefined) return 'needs more gas than a block has'
    const result = await chain.send(call, gas, signal)
    const costWei = result.outcome === 'lost' ? 0n : result.costWei
    metrics.countTransaction(marketplace.address, call.functionName, result.outcome, costWei)
    return result.outcome === 'landed' ? undefined : result.outcome
  }

  /** Nodes say in their own words that a call uses more gas than they try, or than a transaction may have. */
  async #estimate(call: EncodedCall, deals: number): Promise<bigint | Refused> {
    try {
      return await this.#options.chain.estimateGas(call)
    } catch (error) {
      if (deals === 1 || !(error instanceof BaseError) || isUnheard(error)) throw error
      return { refused: error.shortMessage }
    }
  }

  /** What is too much, or refused, as a whole may not be in parts. */
  async #serveHalf(ready: readonly ReadyTask[], head: Head, signal: AbortSignal) {
    const middle = Math.ceil(ready.length / 2)
    const { result, left } = await this.#serve(ready.slice(0, middle), head, signal)
    const rest = [...left, ...ready.slice(middle).map(({ task }) => task)]
    return result === undefined ? { left: rest } : { result, left: rest }
  }

  #landed(ready: readonly ReadyTask[], head: Head, functionName: string, { gasUsed, logs }: MinedResult): void {
    const { selection, log } = this.#options
    const [first] = ready
    const skipped = new Map(
      first?.task.contract.marketplace.skippedIn(logs).map(({ dealId, reason }) => [dealId, reason]),
    )
    const served = ready.filter(({ task }) => !skipped.has(task.deal.dealId))
    for (const { task } of ready) {
      const reason = skipped.get(task.deal.dealId)
      if (reason !== undefined) {
        this.#leftOut.add(nameOf(task.deal))
        this.#sayRejected(task, functionName, reason)
        continue
      }
      this.#leftOut.delete(nameOf(task.deal))
      task.contract.gasUse.note(kindOf(task), gasUsed, served.length)
      if (task.kind === 'settle') selection.isSettled(task.deal, head)
    }
    if (served.length === 0) return
    log?.info({ ...namesOf(served), call: functionName }, served.length === 1 ? 'a deal advanced' : 'deals advanced')
  }

  #refused(ready: readonly ReadyTask[], head: Head, functionName: string, reason: string) {
    for (const { task } of ready) {
      const { watch } = task.contract
      // A challenge that lapsed takes the rest of its period with it, where the contract does not open another.
      if (task.kind === 'reopen') watch.readAgain(task.deal, task.until, head.time)
      else if (task.kind !== 'prove') watch.retryLater(task.deal, head.time)
      this.#sayRejected(task, functionName, reason)
    }
    return { left: [] }
  }

  #retryLater(ready: readonly ReadyTask[], head: Head): void {
    for (const { task } of ready) task.contract.watch.retryLater(task.deal, head.time)
  }

  #sayAllRejected(ready: readonly ReadyTask[], functionName: string, reason: string): void {
    const [first] = ready
    if (first !== undefined && ready.length === 1) this.#sayRejected(first.task, functionName, reason)
    else this.#options.log?.warn({ ...namesOf(ready), call: functionName, reason }, 'the chain rejected a call')
  }

  #sayRejected({ deal }: DealTask, functionName: string, reason: string): void {
    this.#options.selection.sayOnce(deal, `${functionName}: ${reason}`, 'the chain rejected a call')
  }
}

function kindOf({ kind }: DealTask): CallKind {
  return kind === 'reopen' ? 'open' : kind
}

function callOf(kind: CallKind, ready: readonly ReadyTask[]): ProverCall {
  if (kind !== 'prove') return { kind, deals: ready.map(({ task }) => task.deal) }
  return { kind, proofs: ready.map(({ proof }) => proof).filter((proof): proof is DealProof => proof !== undefined) }
}

/** By what the log names the deals of one transaction. */
function namesOf(ready: readonly ReadyTask[]): Readonly<Record<string, unknown>> {
  const [contract] = ready.map(({ task }) => task.deal.contract)
  const named = namedDeals(ready.map(({ task }) => task.deal))
  return named.count === 1 ? { contract, dealId: named.dealIds[0] } : { contract, ...named }
}
