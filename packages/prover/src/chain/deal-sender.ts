import type { FastifyBaseLogger } from 'fastify'
import type { PieceStore } from '../pieces/piece-store.ts'
import { type ChainAccount, isOfTheChain } from './chain-account.ts'
import type { ChainLimits } from './chain-limits.ts'
import type { ChainPace } from './chain-pace.ts'
import type { Head } from './deal.ts'
import { DealCalls, type ReadyTask } from './deal-calls.ts'
import type { DealMetrics } from './deal-metrics.ts'
import type { DealSelection, DealTask } from './deal-selection.ts'
import type { FollowedContract } from './followed-contract.ts'
import { dealsWithin, gasLimitOf, mostGasOf } from './gas-limit.ts'
import type { CallKind, DealProof, ProverCall } from './marketplace/marketplace.ts'
import type { MinedResult, SendResult } from './transactions.ts'

/** A deal that could not be served is looked at again after this, in seconds. */
const RETRY_SECONDS = 30
/**
 * After so many blocks with other calls a round ends, so that the next one can answer the challenges that were opened at its beginning.
 * However fast the chain is and however slow a transaction, they are far from lapsing then.
 */
const ROUND_BLOCKS = 64n
/** So many deals of one transaction are named in the log. */
const NAMED_DEALS = 10

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

  constructor(options: DealSenderOptions) {
    this.#options = options
    this.#calls = new DealCalls(options)
  }

  /** How many deals one transaction can serve in that way, as far as that can be told. */
  dealsPerTransaction({ marketplace, gasUse }: FollowedContract, kind: CallKind, head: Head): number {
    return marketplace.takesMany(kind) ? dealsWithin(gasUse.of(kind), head, this.#options.limits.mostGasForMany) : 1
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
    const kind = kindOf(first)
    const most = this.dealsPerTransaction(first.contract, kind, head)
    const tasks: DealTask[] = []
    const others: DealTask[] = []
    for (const task of left) {
      const isAlike = task.contract === first.contract && kindOf(task) === kind
      if (isAlike && tasks.length < most) tasks.push(task)
      else others.push(task)
    }
    return { tasks, others }
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
      const expected = await chain.estimateGas(call)
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
      else for (const { task } of ready) this.#sayRejected(task, call.functionName, result.outcome)
      return { result, left: [] }
    } catch (error) {
      if (isOfTheChain(error) || signal.aborted) throw error
      this.#retryLater(ready, head)
      this.#options.log?.error({ ...namesOf(ready), err: error }, 'could not process a deal')
      return { left: [] }
    }
  }

  /** What is too much, or refused, as a whole may not be in parts. */
  async #serveHalf(ready: readonly ReadyTask[], head: Head, signal: AbortSignal) {
    const middle = Math.ceil(ready.length / 2)
    const { result, left } = await this.#serve(ready.slice(0, middle), head, signal)
    const rest = [...left, ...ready.slice(middle).map(({ task }) => task)]
    return result === undefined ? { left: rest } : { result, left: rest }
  }

  #landed(ready: readonly ReadyTask[], head: Head, functionName: string, { gasUsed }: MinedResult): void {
    const { selection, log } = this.#options
    for (const { task } of ready) {
      task.contract.gasUse.note(kindOf(task), gasUsed, ready.length)
      if (task.kind === 'settle') selection.isSettled(task.deal, head)
    }
    log?.info({ ...namesOf(ready), call: functionName }, ready.length === 1 ? 'a deal advanced' : 'deals advanced')
  }

  #refused(ready: readonly ReadyTask[], head: Head, functionName: string, reason: string) {
    for (const { task } of ready) {
      // A challenge that lapsed takes the rest of its period with it, where the contract does not open another.
      const at = task.kind === 'reopen' ? task.until : head.time + RETRY_SECONDS
      if (task.kind !== 'prove') task.contract.watch.readAgain(task.deal, at, head.time)
      this.#sayRejected(task, functionName, reason)
    }
    return { left: [] }
  }

  #retryLater(ready: readonly ReadyTask[], head: Head): void {
    for (const { task } of ready) task.contract.watch.readAgain(task.deal, head.time + RETRY_SECONDS, head.time)
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
  const dealIds = ready.map(({ task }) => String(task.deal.dealId))
  if (dealIds.length === 1) return { contract, dealId: dealIds[0] }
  return { contract, count: dealIds.length, dealIds: dealIds.slice(0, NAMED_DEALS) }
}
