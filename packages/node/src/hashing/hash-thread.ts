import { type ResourceLimits, Worker } from 'node:worker_threads'
import { FairQueue } from '../budget/fair-queue.ts'
import type { WorkBudget } from '../budget/work-budget.ts'
import type { HashAnswer, HashCall } from './hash-calls.ts'
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

export interface HashThreadOptions {
  readonly budget: Pick<WorkBudget, 'rank' | 'heldBack'>
  /** So many calls are with the thread at a time. */
  readonly calls: number
  /** How much JavaScript may take of memory; a thread that needs more ends. @default as Node.js has it */
  readonly resourceLimits?: ResourceLimits
}

/**
 * The near side of a thread that runs streams.
 *
 * The thread is given a few calls at a time; all others wait here, and the next one is of the principal that has used the least.
 */
export class HashThread extends WorkerThread<HashCall, HashAnswer> {
  /** The weights of the streams that it runs now. */
  load = 0
  readonly #queue: FairQueue

  constructor({ budget, calls, resourceLimits = {} }: HashThreadOptions) {
    super(new Worker(new URL('./hash-thread-worker.ts', import.meta.url), { resourceLimits }), 'hashing thread')
    this.#queue = new FairQueue({ work: 'hash', budget, slots: calls })
  }

  /** @throws {Error} what went wrong over there, or why the thread has ended. */
  ask(call: HashCall, { principal, signal, onTurn }: AskOptions): Promise<HashAnswer> {
    const task = async (): Promise<HashAnswer> => {
      // A call that has its turn already may be cut in the same moment.
      signal.throwIfAborted()
      onTurn?.()
      return this.post(call)
    }
    return this.#queue.run(principal, task, signal)
  }

  /** Tells of a body that is over, before all calls that wait. */
  tell(call: HashCall): void {
    // A thread that has ended has forgotten it, too.
    this.post(call).catch(() => {})
  }
}
