import type { BodyBill } from '@lade/node/budget/body-bill'
import type { ContentHasher } from '@lade/node/hashing/content-hasher'
import { LRUCache } from 'lru-cache'

/** Uploads whose hashing waits for their next request; those that waited longest are read once more at their end. */
const MOST_WAITING = 64
const WAIT_MS = 10 * 60_000

/** A hasher, and who is charged for it. */
export interface RunningHasher {
  readonly hasher: ContentHasher
  readonly bill: BodyBill
}

interface Waiting {
  readonly running: RunningHasher
  readonly hashedBytes: number
  isTaken: boolean
}

/** The hashers of uploads between two of their requests, in this process. */
export class RunningHashers {
  readonly #waiting = new LRUCache<string, Waiting>({
    max: MOST_WAITING,
    ttl: WAIT_MS,
    ttlAutopurge: true,
    dispose: ({ running, isTaken }) => {
      if (!isTaken) running.hasher.discard()
    },
  })

  /** The hasher of an upload, if it has hashed exactly these bytes; it is the caller's from then on. */
  take(id: string, hashedBytes: number): RunningHasher | undefined {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return undefined
    waiting.isTaken = waiting.hashedBytes === hashedBytes
    this.#waiting.delete(id)
    return waiting.isTaken ? waiting.running : undefined
  }

  put(id: string, running: RunningHasher, hashedBytes: number): void {
    this.#waiting.set(id, { running, hashedBytes, isTaken: false })
  }

  /** Forgets an upload that has ended. */
  drop(id: string): void {
    this.#waiting.delete(id)
  }

  close(): void {
    this.#waiting.clear()
  }
}
