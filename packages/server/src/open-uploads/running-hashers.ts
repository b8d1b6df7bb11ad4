import type { ContentHasher } from '@lade/node/hashing/content-hasher'
import { LRUCache } from 'lru-cache'

/** Uploads whose hashing waits for their next request; those that waited longest are read once more at their end. */
const MOST_WAITING = 64
const WAIT_MS = 10 * 60_000

interface Waiting {
  readonly hasher: ContentHasher
  readonly hashedBytes: number
  isTaken: boolean
}

/** The hashers of uploads between two of their requests, in this process. */
export class RunningHashers {
  readonly #waiting = new LRUCache<string, Waiting>({
    max: MOST_WAITING,
    ttl: WAIT_MS,
    ttlAutopurge: true,
    dispose: ({ hasher, isTaken }) => {
      if (!isTaken) hasher.discard()
    },
  })

  /** The hasher of an upload, if it has hashed exactly these bytes; it is the caller's from then on. */
  take(id: string, hashedBytes: number): ContentHasher | undefined {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return undefined
    waiting.isTaken = waiting.hashedBytes === hashedBytes
    this.#waiting.delete(id)
    return waiting.isTaken ? waiting.hasher : undefined
  }

  put(id: string, hasher: ContentHasher, hashedBytes: number): void {
    this.#waiting.set(id, { hasher, hashedBytes, isTaken: false })
  }

  /** Forgets an upload that has ended. */
  drop(id: string): void {
    this.#waiting.delete(id)
  }

  close(): void {
    this.#waiting.clear()
  }
}
