import type { Worker } from 'node:worker_threads'
import { LadeError } from '@lade/core/errors'
import type { Fence } from '../../record-store.ts'
import type { WriteInput, WriteName, WriteOutput } from '../../sql/writes.ts'
import {
  type BatchReply,
  type ClosedReply,
  type EndReply,
  isMediumFailure,
  type WriteCall,
  type WriteFailure,
  type WriteReply,
  type WriterSettings,
} from './writer-protocol.ts'
import { giveBackWriterThread, takeWriterThread } from './writer-threads.ts'

export interface WriterOptions extends WriterSettings {
  /** Called once when the medium failed. */
  readonly onFatal: (error: Error) => void
  /** Called once when the disk takes no writes any more; nothing is written from then on, and what fails is `read_only`. */
  readonly onReadOnly: (cause: Error) => void
}

/** So many writes are sent at once, so that the thread begins while this one takes what else the turn of the event loop brings. */
const SENT_EARLY = 16

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
  /** Resolves when the thread has closed the file: true if it can open another one. */
  readonly #closed: Promise<boolean>
  readonly #onFatal: (error: Error) => void
  readonly #onReadOnly: (cause: Error) => void
  /** What this turn of the event loop has brought so far. */
  #gathered: Waiting[] = []
  /** What the thread has, in the order in which it answers. */
  #sent: Waiting[] = []
  #ended: Error | undefined
  #hasFailed = false
  #closing: Promise<void> | undefined

  constructor({ onFatal, onReadOnly, ...settings }: WriterOptions) {
    this.#onFatal = onFatal
    this.#onReadOnly = onReadOnly
    this.#worker = takeWriterThread(settings)
    const closed = Promise.withResolvers<boolean>()
    this.#closed = closed.promise
    this.#worker.once('exit', () => closed.resolve(false))
    this.#worker.on('message', (reply: BatchReply | EndReply | ClosedReply) => {
      if ('closed' in reply) closed.resolve(true)
      else if ('ended' in reply) this.#endedBy(reply.ended)
      else this.#settle(reply.replies)
    })
    this.#worker.on('error', (error) => this.#end(asError(error)))
    this.#worker.on('exit', () => this.#end(new Error('The records writer has ended.')))
  }

  /** True once `onFatal` was called. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  write<Name extends WriteName>(name: Name, input: WriteInput<Name>, fence?: Fence): Promise<WriteOutput<Name>> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) return reject(unavailable(this.#ended))
      this.#gathered.push({ call: { name, input, ...(fence !== undefined && { fence }) }, resolve, reject })
      if (this.#gathered.length === 1) setImmediate(() => this.#send())
      else if (this.#gathered.length === SENT_EARLY) this.#send()
    })
  }

  /** Safe to call twice: the thread may write another file by the second time. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    if (this.#hasFailed) return void (await this.#worker.terminate())
    while (this.#sent.length > 0 || this.#gathered.length > 0) {
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    this.#ended ??= new Error('The records are closed.')
    this.#worker.postMessage('close')
    if (await this.#closed) await giveBackWriterThread(this.#worker)
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
    const cause = errorOf(failure)
    if (failure.code === 'SQLITE_FULL') {
      reject(new LadeError('insufficient_storage', { retryAfterSeconds: 60 }, { cause }))
      return
    }
    if (failure.code === 'SQLITE_READONLY') {
      reject(readOnly(cause))
      this.#suspend(cause)
      return
    }
    reject(unavailable(cause))
    if (isMediumFailure(failure.code)) this.#end(cause)
  }

  #endedBy(failure: WriteFailure): void {
    if (failure.code === 'SQLITE_READONLY') this.#suspend(errorOf(failure))
    else this.#end(errorOf(failure))
  }

  #suspend(cause: Error): void {
    if (this.#ended !== undefined) return
    this.#ended = cause
    const left = this.#gathered
    this.#gathered = []
    // What the thread has already is answered by the thread.
    for (const { reject } of left) reject(readOnly(cause))
    this.#onReadOnly(cause)
  }

  #end(error: Error): void {
    if (this.#ended !== undefined) return
    this.#ended = error
    this.#hasFailed = true
    const left = [...this.#sent, ...this.#gathered]
    this.#sent = []
    this.#gathered = []
    for (const { reject } of left) reject(unavailable(error))
    this.#onFatal(error)
  }
}

/** What a write to a disk that takes no writes is answered with. */
export function readOnly(cause?: Error): LadeError<'read_only'> {
  return new LadeError('read_only', { retryAfterSeconds: 5 }, { cause })
}

function unavailable(cause: Error): LadeError<'storage_failed'> {
  return new LadeError('storage_failed', { retryAfterSeconds: 5 }, { cause })
}

function errorOf({ code, message }: WriteFailure): Error {
  return new Error(`${code}: ${message}`)
}

function asError(value: unknown): Error {
  return value instanceof Error ? value : new Error(String(value))
}
