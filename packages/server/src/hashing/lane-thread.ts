import { type ResourceLimits, Worker } from 'node:worker_threads'
import { FairQueue } from '../budget/fair-queue.ts'
import type { WorkBudget } from '../budget/work-budget.ts'
import type { LaneCall, LaneReply } from './lane-calls.ts'

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
  readonly budget: Pick<WorkBudget, 'usedMs' | 'heldBack'>
  /** So many calls are with the thread at a time. */
  readonly calls: number
  /** How much JavaScript may take of memory; a thread that needs more ends. @default as Node.js has it */
  readonly resourceLimits?: ResourceLimits
}

interface Waiting {
  readonly resolve: (reply: LaneReply) => void
  readonly reject: (error: unknown) => void
}

/**
 * The near side of a thread that runs lanes. It keeps the process alive only while it has something to do.
 *
 * The thread is given a few calls at a time; all others wait here, and the next one is of the principal that has used the least.
 */
export class LaneThread {
  /** The weights of the lanes that it runs now. */
  load = 0
  readonly #worker: Worker
  /** Calls without an answer; answers come in the same order. */
  readonly #waiting: Waiting[] = []
  #ended: Error | undefined
  /** Resolves when the thread has loaded its modules, or has ended instead. */
  readonly #loaded: Promise<void>

  readonly #queue: FairQueue

  constructor({ budget, calls, resourceLimits = {} }: LaneThreadOptions) {
    this.#worker = new Worker(new URL('./lane-worker.ts', import.meta.url), { resourceLimits })
    this.#queue = new FairQueue({ work: 'hash', budget, slots: calls })
    this.#loaded = new Promise((resolve) => {
      this.#worker.once('message', () => {
        this.#worker.on('message', (reply: LaneReply) => this.#settle(reply))
        resolve()
      })
      this.#worker.once('exit', () => resolve())
    })
    this.#worker.on('error', (error) => this.#fail(error instanceof Error ? error : new Error(String(error))))
    this.#worker.on('exit', () => this.#fail(new Error('The hashing thread has ended.')))
    this.#worker.unref()
  }

  /** True when nothing can be asked of it any more. */
  get hasEnded(): boolean {
    return this.#ended !== undefined
  }

  /** @throws {Error} what went wrong over there, or why the thread has ended. */
  ask(call: LaneCall, { principal, signal, onTurn }: AskOptions): Promise<LaneReply> {
    const task = async (): Promise<LaneReply> => {
      // A call that has its turn already may be cut in the same moment.
      signal.throwIfAborted()
      onTurn?.()
      return this.#post(call)
    }
    return this.#queue.run(principal, task, signal)
  }

  /** Tells of a body that is over, before all calls that wait. */
  tell(call: LaneCall): void {
    // A thread that has ended has forgotten it, too.
    this.#post(call).catch(() => {})
  }

  #post(call: LaneCall): Promise<LaneReply> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) return reject(this.#ended)
      if (this.#waiting.length === 0) this.#worker.ref()
      this.#waiting.push({ resolve, reject })
      this.#worker.postMessage(call)
    })
  }

  /** Ends the thread. What was asked of it and is not answered, and whatever is asked later, fails. */
  async close(): Promise<void> {
    this.#fail(new Error('The hashing thread is closed.'))
    // A thread that is ended while its modules are still loading can take the whole process with it.
    this.#worker.ref()
    await this.#loaded
    await this.#worker.terminate()
  }

  #settle(reply: LaneReply): void {
    const waiting = this.#waiting.shift()
    if (this.#waiting.length === 0) this.#worker.unref()
    if (reply.error === undefined) waiting?.resolve(reply)
    else waiting?.reject(reply.error)
  }

  #fail(error: Error): void {
    this.#ended ??= error
    for (const { reject } of this.#waiting.splice(0)) reject(this.#ended)
  }
}
