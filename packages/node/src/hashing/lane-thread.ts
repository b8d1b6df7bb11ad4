import { type ResourceLimits, Worker } from 'node:worker_threads'
import { FairQueue } from '../budget/fair-queue.ts'
import type { WorkBudget } from '../budget/work-budget.ts'
import type { LaneAnswer, LaneCall } from './lane-calls.ts'
import { WorkerThread } from './worker-thread.ts'

/** For whom a thread is asked. */
export interface AskOptions {
  /** Whose calls wait together; those of one are answered in order. */
  readonly principal: string
  /** Cuts the call while it waits; its reason is what the call rejects with. */
  readonly signal: AbortSignal
  /** Called when the turn has come; what it throws is what the call rejects with, and the thread is not asked. */
  readonly onTurn?: (() => void) | undefined
}

export interface LaneThreadOptions {
  readonly budget: Pick<WorkBudget, 'rankMs' | 'heldBack'>
  /** So many calls are with the thread at a time. */
  readonly calls: number
  /** How much JavaScript may take of memory; a thread that needs more ends. @default as Node.js has it */
  readonly resourceLimits?: ResourceLimits
}

/**
 * The near side of a thread that runs lanes.
 *
 * The thread is given a few calls at a time; all others wait here, and the next one is of the principal that has used the least.
 */
export class LaneThread extends WorkerThread<LaneCall, LaneAnswer> {
  /** The weights of the lanes that it runs now. */
  load = 0
  readonly #queue: FairQueue

  constructor({ budget, calls, resourceLimits = {} }: LaneThreadOptions) {
    super(new Worker(new URL('./lane-worker.ts', import.meta.url), { resourceLimits }), 'hashing thread')
    this.#queue = new FairQueue({ work: 'hash', budget, slots: calls })
  }

  /** @throws {Error} what went wrong over there, or why the thread has ended. */
  ask(call: LaneCall, { principal, signal, onTurn }: AskOptions): Promise<LaneAnswer> {
    const task = async (): Promise<LaneAnswer> => {
      // A call that has its turn already may be cut in the same moment.
      signal.throwIfAborted()
      onTurn?.()
      return this.post(call)
    }
    return this.#queue.run(principal, task, signal)
  }

  /** Tells of a body that is over, before all calls that wait. */
  tell(call: LaneCall): void {
    // A thread that has ended has forgotten it, too.
    this.post(call).catch(() => {})
  }
}
