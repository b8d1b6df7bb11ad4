import { randomUUID } from 'node:crypto'
import type { PendingPiece } from '../pieces/pending-piece.ts'
import type { PieceName } from '../pieces/piece-name.ts'

/** After its last sign of life; what was uploaded and never finalized is thrown away then. */
const LIFETIME_MS = 60 * 60 * 1000
/** More than anybody has open, few enough to be held. */
const MAX_SESSIONS = 10_000

/** An upload whose CID was said first. */
export interface NamedUpload {
  readonly kind: 'named'
  readonly piece: PieceName
  readonly notifyUrl: string | undefined
  isDone: boolean
}

/** An upload whose CID is said last. */
export interface StreamingUpload {
  readonly kind: 'streaming'
  /** What was uploaded, once it is complete. */
  pending: PendingPiece | undefined
}

export type Upload = NamedUpload | StreamingUpload

/**
 * The uploads under way, by the UUID in their URL.
 *
 * They are held in memory: a restart forgets them, and their callers get 404 and begin anew.
 */
export class UploadSessions {
  readonly #now: () => number
  readonly #discard: (pending: PendingPiece) => Promise<void>
  readonly #sessions = new Map<string, { readonly upload: Upload; seenAt: number }>()

  constructor(options: { readonly now: () => number; readonly discard: (pending: PendingPiece) => Promise<void> }) {
    this.#now = options.now
    this.#discard = options.discard
  }

  /** @returns the new upload's UUID; undefined when there are too many. */
  async open(upload: Upload): Promise<string | undefined> {
    if (this.#sessions.size >= MAX_SESSIONS) await this.sweep()
    if (this.#sessions.size >= MAX_SESSIONS) return undefined
    const id = randomUUID()
    this.#sessions.set(id, { upload, seenAt: this.#now() })
    return id
  }

  find<Kind extends Upload['kind']>(id: string, kind: Kind): Extract<Upload, { kind: Kind }> | undefined {
    const session = this.#sessions.get(id)
    if (session === undefined || session.upload.kind !== kind) return undefined
    session.seenAt = this.#now()
    // Its kind was looked at.
    return session.upload as Extract<Upload, { kind: Kind }>
  }

  forget(id: string): void {
    this.#sessions.delete(id)
  }

  /** Forgets what has been left alone for an hour. */
  async sweep(): Promise<void> {
    const before = this.#now() - LIFETIME_MS
    for (const [id, { upload, seenAt }] of this.#sessions) {
      if (seenAt > before) continue
      this.#sessions.delete(id)
      if (upload.kind === 'streaming' && upload.pending !== undefined) await this.#discard(upload.pending)
    }
  }
}
