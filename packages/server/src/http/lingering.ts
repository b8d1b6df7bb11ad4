import type { IncomingMessage } from 'node:http'
import type { WorkBudget } from '@lade/node/budget/work-budget'
import { chunkMemory, freeChunk } from '@lade/node/hashing/chunk-memory'

/** As nginx has it: a refused body is read for so long in all, and for so long without a byte once there was one. */
const TOTAL_MS = 30_000
const IDLE_MS = 5000
/** What a sender has who is over its budget, and who has not begun to send. */
const LEAST_BYTES = 4 * 1024 * 1024
const LEAST_MS = 1500
/** Reading a byte and throwing it away: 0.4 to 0.7 ms of a MiB were measured, the kernel's part included. */
const DISCARD_MS_PER_BYTE = 0.75 / (1024 * 1024)

export interface LingeringOptions {
  readonly budget: Pick<WorkBudget, 'isOver' | 'spend' | 'heldBack'>
  /** Who sends the body of a request. */
  readonly principalOf: (request: IncomingMessage) => string
  /** True while the process is about to end: nobody is waited for any more. */
  readonly isDraining: () => boolean
}

/**
 * Reads the bodies of refused requests and throws them away, so that their senders come to read the answer.
 *
 * Many clients send the whole body before they read anything. A socket that is closed with unread bytes sends a reset, which such a client takes
 * for a broken pipe, and the answer is lost. The bytes are unpaid work of their sender; who is over its budget is left after 4 MiB.
 *
 * @example
 * response.write(problem)
 * lingering.discard(request, () => response.end())
 */
export class Lingering {
  readonly #options: LingeringOptions

  constructor(options: LingeringOptions) {
    this.#options = options
  }

  /**
   * Discards what comes of a body.
   *
   * @param done - called once, at its end or when nothing more of it is read.
   * @returns ends it, for when the sender is known to send no more.
   */
  discard(request: IncomingMessage, done: () => void): () => void {
    const { budget, principalOf, isDraining } = this.#options
    const principal = principalOf(request)
    const startedAt = performance.now()
    let discardedBytes = 0
    let isFinished = false
    const finish = (): void => {
      if (isFinished) return
      isFinished = true
      clearTimeout(idle)
      clearTimeout(total)
      request.off('data', take)
      request.pause()
      done()
    }
    const isOver = (): boolean =>
      budget.isOver(principal) && (discardedBytes > LEAST_BYTES || performance.now() - startedAt > LEAST_MS)
    const take = (chunk: Uint8Array): void => {
      discardedBytes += chunk.length
      budget.spend({ principal, work: 'discard', processorMs: chunk.length * DISCARD_MS_PER_BYTE })
      // Nobody else reads what comes after the answer.
      freeChunk(chunkMemory(chunk))
      const isOverBudget = isOver()
      if (isOverBudget) budget.heldBack({ principal, work: 'discard', how: 'closed' })
      clearTimeout(idle)
      if (isOverBudget || isDraining()) finish()
      else idle = setTimeout(finish, IDLE_MS)
    }
    let idle = setTimeout(finish, LEAST_MS)
    const total = setTimeout(finish, TOTAL_MS)
    request.on('data', take)
    request.once('end', finish)
    request.once('close', finish)
    request.once('error', () => {})
    request.resume()
    return finish
  }
}
