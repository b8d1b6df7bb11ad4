import { Worker } from 'node:worker_threads'
import { LadeError } from '@lade/core/errors'
import type { Fence } from '../../record-store.ts'
import type { WriteInput, WriteName, WriteOutput } from '../../sql/writes.ts'
import {
  type BatchReply,
  isMediumFailure,
  type WriteCall,
  type WriteFailure,
  type WriteReply,
  type WriterSettings,
} from './writer-protocol.ts'

interface Waiting {
  readonly call: WriteCall
  readonly resolve: (output: never) => void
  readonly reject: (error: Error) => void
}

/**
 * The main thread's end of the writer, which answers in the order it was asked. Writes that arrive while a commit is
 * under way share the next one.
 *
 * A write's promise resolves only after the commit that holds it is on disk. When SQLite reports that the medium
 * failed, `onFatal` is called once: what is on disk is then unknown until the files are opened again.
 */
export class Writer {
  readonly #worker: Worker
  readonly #exited: Promise<void>
  readonly #onFatal: (error: Error) => void
  /** What this turn of the event loop has brought so far. */
  #gathered: Waiting[] = []
  /** What the thread has, in the order in which it answers. */
  #sent: Waiting[] = []
  #ended: Error | undefined

  constructor({ onFatal, ...settings }: WriterSettings & { onFatal: (error: Error) => void }) {
    this.#onFatal = onFatal
    this.#worker = new Worker(new URL('./writer-thread.ts', import.meta.url), { workerData: settings })
    this.#exited = new Promise((resolve) => this.#worker.once('exit', () => resolve()))
    this.#worker.on('message', (reply: BatchReply) => this.#settle(reply.replies))
    this.#worker.on('error', (error) => this.#end(asError(error)))
    this.#worker.on('exit', () => this.#end(new Error('The records writer has ended.')))
  }

  write<Name extends WriteName>(name: Name, input: WriteInput<Name>, fence?: Fence): Promise<WriteOutput<Name>> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) return reject(unavailable(this.#ended))
      this.#gathered.push({ call: { name, input, ...(fence !== undefined && { fence }) }, resolve, reject })
      if (this.#gathered.length === 1) setImmediate(() => this.#send())
    })
  }

  async close(): Promise<void> {
    while (this.#sent.length > 0 || this.#gathered.length > 0) {
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    this.#ended ??= new Error('The records are closed.')
    this.#worker.postMessage('close')
    await this.#exited
  }

  #send(): void {
    if (this.#gathered.length === 0 || this.#ended !== undefined) return
    this.#worker.postMessage(this.#gathered.map((waiting) => waiting.call))
    this.#sent.push(...this.#gathered)
    this.#gathered = []
  }

  #settle(replies: readonly WriteReply[]): void {
    const settled = this.#sent.splice(0, replies.length)
    for (const [index, { resolve, reject }] of settled.entries()) {
      const reply = replies[index]
      if (reply !== undefined && 'output' in reply) resolve(reply.output as never)
      else this.#refuse(reject, reply?.failure ?? { code: 'ERR_UNKNOWN', message: 'no reply' })
    }
  }

  #refuse(reject: (error: Error) => void, failure: WriteFailure): void {
    const cause = new Error(`${failure.code}: ${failure.message}`)
    if (failure.code === 'SQLITE_FULL') {
      reject(new LadeError('insufficient_storage', { retryAfterSeconds: 60 }, { cause }))
      return
    }
    reject(unavailable(cause))
    if (isMediumFailure(failure.code)) this.#end(cause)
  }

  #end(error: Error): void {
    if (this.#ended !== undefined) return
    this.#ended = error
    const left = [...this.#sent, ...this.#gathered]
    this.#sent = []
    this.#gathered = []
    for (const { reject } of left) reject(unavailable(error))
    this.#onFatal(error)
  }
}

function unavailable(cause: Error): LadeError<'storage_failed'> {
  return new LadeError('storage_failed', { retryAfterSeconds: 5 }, { cause })
}

function asError(value: unknown): Error {
  return value instanceof Error ? value : new Error(String(value))
}
