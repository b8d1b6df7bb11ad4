import { Worker } from 'node:worker_threads'
import type { LaneCall, LaneReply } from './lane-calls.ts'

interface Waiting {
  readonly resolve: (reply: LaneReply) => void
  readonly reject: (error: unknown) => void
}

/** The near side of a thread that runs lanes. It keeps the process alive only while it has something to do. */
export class LaneThread {
  /** The weights of the lanes that it runs now. */
  load = 0
  readonly #worker = new Worker(new URL('./lane-worker.ts', import.meta.url))
  /** Calls without an answer; answers come in the same order. */
  readonly #waiting: Waiting[] = []
  #ended: Error | undefined
  /** Resolves when the thread has loaded its modules, or has ended instead. */
  readonly #loaded: Promise<void>

  constructor() {
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
  ask(call: LaneCall): Promise<LaneReply> {
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
