import type { Transferable, Worker } from 'node:worker_threads'

interface Waiting<Answer> {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

/**
 * The near side of a thread that answers calls in their order. It keeps the process alive only while it has something to do.
 *
 * The worker posts one message when its modules have loaded, and then one for each call: the answer, or an object with `error`, which is
 * what the call rejects with.
 */
export class WorkerThread<Call, Answer extends object> {
  readonly #worker: Worker
  readonly #name: string
  /** Calls without an answer. */
  readonly #waiting: Waiting<Answer>[] = []
  #ended: Error | undefined
  /** Resolves when the thread has loaded its modules, or has ended instead. */
  readonly #loaded: Promise<void>

  /** @param name - what errors call it, such as `hashing thread`. */
  constructor(worker: Worker, name: string) {
    this.#worker = worker
    this.#name = name
    this.#loaded = new Promise((resolve) => {
      worker.once('message', () => {
        worker.on('message', (reply: Answer | { readonly error: unknown }) => this.#settle(reply))
        resolve()
      })
      worker.once('exit', () => resolve())
    })
    worker.on('error', (error) => this.#fail(error instanceof Error ? error : new Error(String(error))))
    worker.on('exit', () => this.#fail(new Error(`The ${name} has ended.`)))
    worker.unref()
  }

  /** True when nothing can be asked of it any more. */
  get hasEnded(): boolean {
    return this.#ended !== undefined
  }

  /**
   * What the thread answers to a call.
   *
   * @param transfer - memory that moves to the thread.
   * @throws {Error} what went wrong over there, or why the thread has ended.
   */
  post(call: Call, transfer: readonly Transferable[] = []): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) return reject(this.#ended)
      if (this.#waiting.length === 0) this.#worker.ref()
      this.#waiting.push({ resolve, reject })
      this.#worker.postMessage(call, transfer)
    })
  }

  /** Ends the thread. What was asked of it and is not answered, and whatever is asked later, fails. */
  async close(): Promise<void> {
    this.#fail(new Error(`The ${this.#name} is closed.`))
    // A thread that is ended while its modules are still loading can take the whole process with it.
    this.#worker.ref()
    await this.#loaded
    await this.#worker.terminate()
  }

  #settle(reply: Answer | { readonly error: unknown }): void {
    const waiting = this.#waiting.shift()
    if (this.#waiting.length === 0) this.#worker.unref()
    if ('error' in reply) waiting?.reject(reply.error)
    else waiting?.resolve(reply)
  }

  #fail(error: Error): void {
    this.#ended ??= error
    for (const { reject } of this.#waiting.splice(0)) reject(this.#ended)
  }
}
