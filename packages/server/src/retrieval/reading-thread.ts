import { Worker } from 'node:worker_threads'
import type { BlockAnswer } from '@lade/core/dag'
import type { ReadingCall, ReadingReply } from './reading-call.ts'

/** More than the worst block of 2 MiB takes. */
const LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 }

interface Waiting {
  readonly resolve: (read: Read) => void
  readonly reject: (error: unknown) => void
}

interface Read {
  readonly answer: BlockAnswer
  readonly processorMs: number
}

/** The near side of the thread that reads blocks. It keeps the process alive only while it has something to do. */
export class ReadingThread {
  readonly #worker = new Worker(new URL('./reading-worker.ts', import.meta.url), { resourceLimits: LIMITS })
  /** Calls without an answer; answers come in the same order. */
  readonly #waiting: Waiting[] = []
  #ended: Error | undefined
  /** Resolves when the thread has loaded its modules, or has ended instead. */
  readonly #loaded: Promise<void>

  constructor() {
    this.#loaded = new Promise((resolve) => {
      this.#worker.once('message', () => {
        this.#worker.on('message', (reply: ReadingReply) => this.#settle(reply))
        resolve()
      })
      this.#worker.once('exit', () => resolve())
    })
    this.#worker.on('error', (error) => this.#fail(error instanceof Error ? error : new Error(String(error))))
    this.#worker.on('exit', () => this.#fail(new Error('The thread that reads blocks has ended.')))
    this.#worker.unref()
  }

  /** True when nothing can be asked of it any more. */
  get hasEnded(): boolean {
    return this.#ended !== undefined
  }

  /** @throws {Error} why the thread has ended. */
  read({ question, codec, bytes }: ReadingCall): Promise<Read> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) return reject(this.#ended)
      if (this.#waiting.length === 0) this.#worker.ref()
      this.#waiting.push({ resolve, reject })
      // The bytes may be sent to a client later on, so that a copy crosses over.
      const copy = new Uint8Array(bytes)
      this.#worker.postMessage({ question, codec, bytes: copy } satisfies ReadingCall, [copy.buffer])
    })
  }

  /** Ends the thread. What was asked of it and is not answered, and whatever is asked later, fails. */
  async close(): Promise<void> {
    this.#fail(new Error('The thread that reads blocks is closed.'))
    // A thread that is ended while its modules are still loading can take the whole process with it.
    this.#worker.ref()
    await this.#loaded
    await this.#worker.terminate()
  }

  #settle(reply: ReadingReply): void {
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
