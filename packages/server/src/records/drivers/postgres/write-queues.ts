import type { Fence } from '../../record-store.ts'
import type { WriteInput, WriteName, WriteOutput } from '../../sql/writes.ts'
import { isUniqueViolation, verdictOf } from './failures.ts'
import { UploadBatches } from './upload-batches.ts'
import type { WaitingWrite, WriteCall } from './write-call.ts'
import { CONTENTION, queueNameOf } from './write-queue-names.ts'
import { isPlainUpload } from './write-strands.ts'

export interface WriteQueuesOptions {
  /** Makes writes in one transaction, all or none, and answers their outputs in order. */
  readonly run: (calls: readonly WriteCall[], queueName: string | undefined) => Promise<readonly unknown[]>
  /** As `run` of {@link UploadBatches}. */
  readonly runBatch: (calls: readonly WriteCall[]) => Promise<readonly unknown[]>
  /** For how long a write waits for those before it at the least, when these fail because the database is away. */
  readonly timeoutMs: number
  /** Whether writes of different principals undo each other at this time. */
  readonly isContended: () => boolean
}

/** About as many writes share a transaction at most. */
const MAX_GROUP = 64

/**
 * Puts the writes of this process in order: those of one queue follow each other, and what has gathered while a transaction was under way
 * shares the next one. Writes without a queue run at once.
 *
 * When one of several writes that share a transaction cannot be made, each is run by itself: the good ones are made, and the bad one
 * fails alone. When the database is away, those that share a transaction fail together, and with them those behind that have waited for
 * as long as a write is tried.
 */
export class WriteQueues {
  readonly #options: WriteQueuesOptions
  readonly #queues = new Map<string, WaitingWrite[]>()
  readonly #batches: UploadBatches

  constructor(options: WriteQueuesOptions) {
    this.#options = options
    const apart = (waiting: WaitingWrite): void => {
      const { name, input } = waiting.call
      const queueName = queueNameOf(name, input, options.isContended())
      if (queueName !== undefined) this.#enter(queueName, { ...waiting, isApart: true })
    }
    this.#batches = new UploadBatches({ run: options.runBatch, apart })
  }

  /** Queues that have something to do. */
  get size(): number {
    return this.#queues.size + (this.#batches.isRunning ? 1 : 0)
  }

  async write<Name extends WriteName>(name: Name, input: WriteInput<Name>, fence?: Fence): Promise<WriteOutput<Name>> {
    const call: WriteCall = { name, input: input as never, fence }
    const queueName = queueNameOf(name, input, this.#options.isContended())
    if (queueName === undefined) return (await this.#options.run([call], undefined))[0] as WriteOutput<Name>
    return new Promise<WriteOutput<Name>>((resolve, reject) => {
      const since = performance.now()
      const waiting: WaitingWrite = { call, resolve: resolve as (output: never) => void, reject, since }
      // What its principal waits for already is waited for there.
      const isBatched = queueName !== CONTENTION && !this.#queues.has(queueName) && isPlainUpload(call)
      if (isBatched) this.#batches.add(waiting)
      else this.#enter(queueName, waiting)
    })
  }

  #enter(queueName: string, waiting: WaitingWrite): void {
    const queue = this.#queues.get(queueName)
    if (queue !== undefined) {
      queue.push(waiting)
      return
    }
    this.#queues.set(queueName, [waiting])
    void this.#drain(queueName)
  }

  async #drain(queueName: string): Promise<void> {
    const queue = this.#queues.get(queueName) ?? []
    while (queue.length > 0) {
      const group = queue.splice(0, MAX_GROUP)
      const failure = await this.#together(group, queueName)
      if (failure === undefined) this.#rejoin(queue)
      else if (isOfOneWrite(failure.cause) && group.length > 1) {
        for (const waiting of group) await this.#together([waiting], queueName)
      } else {
        this.#rejectOld(queue, failure.cause)
      }
    }
    this.#queues.delete(queueName)
  }

  /** Lets uploads that came while their principal had something else to wait for share transactions again. */
  #rejoin(queue: WaitingWrite[]): void {
    if (this.#batches.isHeldUp || this.#options.isContended()) return
    if (!queue.every(({ call, isApart = false }) => isPlainUpload(call) && !isApart)) return
    for (const waiting of queue.splice(0)) this.#batches.add(waiting)
  }

  /** Undefined when all were made; nobody was told of a failure that may be of one among several. */
  async #together(group: readonly WaitingWrite[], queueName: string): Promise<{ readonly cause: unknown } | undefined> {
    try {
      const outputs = await this.#options.run(
        group.map(({ call }) => call),
        queueName,
      )
      for (const [index, { resolve }] of group.entries()) resolve(outputs[index] as never)
      return undefined
    } catch (cause) {
      if (group.length === 1 || !isOfOneWrite(cause)) for (const { reject } of group) reject(cause)
      return { cause }
    }
  }

  /** The oldest are in front. */
  #rejectOld(queue: WaitingWrite[], cause: unknown): void {
    const before = performance.now() - this.#options.timeoutMs
    const firstYoung = queue.findIndex(({ since }) => since > before)
    for (const { reject } of queue.splice(0, firstYoung < 0 ? queue.length : firstYoung)) reject(cause)
  }
}

/** Whether a failure is of what is written, and not of the database. */
function isOfOneWrite(cause: unknown): boolean {
  return verdictOf(cause) === 'fault' || isUniqueViolation(cause)
}
