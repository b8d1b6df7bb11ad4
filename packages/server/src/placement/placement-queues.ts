import { setTimeout as sleep } from 'node:timers/promises'
import { oneATurn } from '@lade/node/budget/one-a-turn'
import type { Prover } from '../proving/prover.ts'
import type { AdditionRecord, DueCopy } from '../records/record-store.ts'
import { followAddition, openAddition } from './add.ts'
import { auditCopy } from './audit.ts'
import { type PlacementContext, proverNamed } from './placement-context.ts'
import { removeCopy } from './remove.ts'
import { sendCopy } from './send.ts'
import { TaskQueue } from './task-queue.ts'

/** How much a round takes of each kind of work; what is due beyond that waits in the records. */
export const ROUND_BATCH = 64
/** What one prover is asked at once, by the kind of question. */
const SENDS = 4
const FOLLOWS = 4
const REMOVALS = 4
const AUDITS = 2
/** The same of this process itself, which is asked without a network. Each audit begins in a turn of its own. */
const LOCAL_AUDITS = 16
/**
 * This process audits its own bigger pieces one at a time, and rests after each: reading and hashing them takes from uploads. The rest is
 * as many times what the event loop was busy meanwhile: waiting for a store takes nothing from anybody.
 */
const BIG_PIECE_BYTES = 256 * 1024
const REST_PER_AUDIT = 3
/** So many of them are remembered at a time, lest they hide the small ones that are due after them. */
const MAX_BIG_AUDITS = 1024

interface ProverQueues {
  readonly prover: Prover
  readonly sends: TaskQueue
  readonly follows: TaskQueue
  readonly audits: TaskQueue
  readonly bigAudits: TaskQueue
}

/**
 * The work that is done with provers: each has queues of its own, so that a slow one holds up neither the others nor, with its slow answers
 * of one kind, its answers of another.
 */
export class PlacementQueues {
  readonly #context: PlacementContext
  readonly #queues: readonly ProverQueues[]
  readonly #removals: TaskQueue
  readonly #takeLocalTurn = oneATurn()
  #hasAdditions = false

  /** @param onDone - called after each piece of work, with what it threw or undefined. */
  constructor(context: PlacementContext, onDone: (error: unknown) => void) {
    this.#context = context
    this.#queues = context.provers.map((prover) => ({
      prover,
      sends: new TaskQueue(SENDS, onDone),
      follows: new TaskQueue(FOLLOWS, onDone),
      audits: new TaskQueue(prover.isLocal ? LOCAL_AUDITS : AUDITS, onDone),
      bigAudits: new TaskQueue(1, onDone),
    }))
    this.#removals = new TaskQueue(REMOVALS, onDone)
  }

  /** True while provers are asked, or have been asked for something that they have not confirmed yet. */
  get isUnderWay(): boolean {
    return this.#hasAdditions || this.#all().some((queue) => !queue.isIdle)
  }

  /** Starts everything that is due and not under way; answers whether there was anything. */
  async start(): Promise<boolean> {
    const additions = await this.#context.records.placements.additions()
    this.#hasAdditions = additions.length > 0
    let isAny = false
    for (const queues of this.#queues) {
      const open = additions.filter(({ prover }) => prover === queues.prover.name)
      const isSending = await this.#send(queues)
      const isAuditing = await this.#audit(queues)
      const isAdding = await this.#add(queues, open)
      isAny ||= isSending || isAuditing || isAdding
    }
    return (await this.#remove()) || isAny
  }

  /** Resolves when nothing is under way any more. */
  async whenIdle(): Promise<void> {
    await Promise.all(this.#all().map((queue) => queue.whenIdle()))
  }

  /** Forgets what has not begun; what is under way ends by the signal of the context. */
  dismiss(): void {
    for (const queue of this.#all()) queue.dismiss()
  }

  async #send({ prover, sends }: ProverQueues): Promise<boolean> {
    if (!sends.isOpen) return false
    const before = sends.count
    for (const copy of await this.#due(prover, 'pending', before)) {
      sends.offer(copy.copy.id, () => sendCopy(this.#context, prover, copy))
    }
    return sends.count > before
  }

  async #audit({ prover, audits, bigAudits }: ProverQueues): Promise<boolean> {
    if (!audits.isOpen) return false
    const before = audits.count + bigAudits.count
    for (const copy of await this.#due(prover, 'stored', before)) {
      const isBig = prover.isLocal && copy.piece.sizeBytes > BIG_PIECE_BYTES
      const audit = () => auditCopy(this.#context, prover, copy)
      if (!isBig) audits.offer(copy.copy.id, () => this.#inTurn(prover, audit))
      else if (bigAudits.count < MAX_BIG_AUDITS) bigAudits.offer(copy.copy.id, () => this.#withRest(audit))
    }
    return audits.count + bigAudits.count > before
  }

  /** @param underWay - as many of them are being worked on, and due still. */
  #due(prover: Prover, state: 'pending' | 'stored', underWay: number): Promise<readonly DueCopy[]> {
    const { records, now } = this.#context
    return records.placements.due({ state, prover: prover.name, now: now(), limit: ROUND_BATCH + underWay })
  }

  /** What this process asks itself has its answer at once: sixteen of them would hold up everybody else. */
  async #inTurn({ isLocal }: Prover, work: () => Promise<void>): Promise<void> {
    if (isLocal) await this.#takeLocalTurn()
    await work()
  }

  async #withRest(work: () => Promise<void>): Promise<void> {
    const before = performance.eventLoopUtilization()
    await work()
    const restMs = REST_PER_AUDIT * performance.eventLoopUtilization(before).active
    await sleep(restMs, undefined, { signal: this.#context.signal, ref: false })
  }

  async #add({ prover, follows }: ProverQueues, open: readonly AdditionRecord[]): Promise<boolean> {
    const context = this.#context
    const opened: AdditionRecord[] = []
    for (const holds of prover.announcesBlocks ? (['bytes', 'cars'] as const) : (['bytes'] as const)) {
      const addition = await openAddition(context, prover, [...open, ...opened], holds)
      if (addition !== undefined) opened.push(addition)
    }
    const due = open.filter(({ nextAt }) => nextAt <= context.now())
    const before = follows.count
    for (const addition of [...due, ...opened]) {
      follows.offer(addition.id, () => followAddition(context, prover, addition))
    }
    return follows.count > before
  }

  async #remove(): Promise<boolean> {
    const context = this.#context
    const queue = this.#removals
    if (!queue.isOpen) return false
    const limit = ROUND_BATCH + queue.count
    const removable = await context.records.placements.removable({ limit, now: context.now() })
    const before = queue.count
    for (const copy of removable) {
      const prover = proverNamed(context, copy.copy.prover)
      queue.offer(copy.copy.id, () => removeCopy(context, prover, copy))
    }
    return queue.count > before
  }

  #all(): readonly TaskQueue[] {
    return [
      this.#removals,
      ...this.#queues.flatMap(({ sends, follows, audits, bigAudits }) => [sends, follows, audits, bigAudits]),
    ]
  }
}
