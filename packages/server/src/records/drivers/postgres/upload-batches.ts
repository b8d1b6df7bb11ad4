import { verdictOf } from './failures.ts'
import type { WaitingWrite, WriteCall } from './write-call.ts'

/** The output of an upload that was not made, since somebody else has the lock of its principal. */
export const LOCKED = Symbol('locked')

export interface UploadBatchesOptions {
  /** Makes uploads in one transaction, without a wait for the lock of any principal. Answers their outputs in order, or {@link LOCKED}. */
  readonly run: (calls: readonly WriteCall[]) => Promise<readonly unknown[]>
  /** Puts an upload into the queue of its principal. */
  readonly apart: (waiting: WaitingWrite) => void
  /** After which a transaction is held up. @default 2000 */
  readonly heldUpMs?: number
}

/** About as many uploads share a transaction at most. */
const MAX_BATCH = 64
const HELD_UP_MS = 2000

/**
 * Uploads of all principals that came while a transaction was under way share the next one.
 *
 * None of them waits for what only another one needs. An upload goes into the queue of its principal, which has transactions of its own,
 * when somebody else has the lock of the principal, when it cannot be made by itself either, and while a batch is held up.
 */
export class UploadBatches {
  readonly #options: UploadBatchesOptions
  readonly #waiting: WaitingWrite[] = []
  #isRunning = false
  #isHeldUp = false

  constructor(options: UploadBatchesOptions) {
    this.#options = options
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  get isHeldUp(): boolean {
    return this.#isHeldUp
  }

  add(waiting: WaitingWrite): void {
    if (this.#isHeldUp) {
      this.#options.apart(waiting)
      return
    }
    this.#waiting.push(waiting)
    if (!this.#isRunning) void this.#drain()
  }

  async #drain(): Promise<void> {
    this.#isRunning = true
    while (this.#waiting.length > 0) {
      const heldUp = setTimeout(() => this.#giveWay(), this.#options.heldUpMs ?? HELD_UP_MS)
      await this.#make(this.#waiting.splice(0, MAX_BATCH))
      clearTimeout(heldUp)
      this.#isHeldUp = false
    }
    this.#isRunning = false
  }

  #giveWay(): void {
    this.#isHeldUp = true
    for (const waiting of this.#waiting.splice(0)) this.#options.apart(waiting)
  }

  /** Makes them together, and where they cannot be made so one after the other. */
  async #make(batch: readonly WaitingWrite[]): Promise<void> {
    try {
      const outputs = await this.#options.run(batch.map(({ call }) => call))
      for (const [index, waiting] of batch.entries()) {
        const output = outputs[index]
        if (output === LOCKED) this.#options.apart(waiting)
        else waiting.resolve(output as never)
      }
    } catch (cause) {
      const verdict = verdictOf(cause)
      if (verdict === 'lost' || verdict === 'full') for (const { reject } of batch) reject(cause)
      else if (batch.length === 1) for (const waiting of batch) this.#options.apart(waiting)
      else for (const waiting of batch) await this.#makeAlone(waiting)
    }
  }

  async #makeAlone(waiting: WaitingWrite): Promise<void> {
    if (this.#isHeldUp) this.#options.apart(waiting)
    else await this.#make([waiting])
  }
}
