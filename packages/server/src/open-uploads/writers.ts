import { LadeError } from '@lade/core/errors'

/** How long a question about an upload waits for a request that is about to end. */
const ENDING_MS = 10_000

/** A request that writes to an upload. */
export interface Writing {
  /** Aborted when a newer request takes over. */
  readonly signal: AbortSignal
  /** No more bytes come: what is left is done soon, and is not given up. */
  isEnding(): void
  leave(): void
}

interface Entry {
  readonly controller: AbortController
  readonly ended: Promise<void>
  isEnding: boolean
}

/** The requests of this process that write to uploads, one for each upload: a newer one ends the one before. */
export class Writers {
  readonly #entries = new Map<string, Entry>()

  /** Resolves once nobody else in this process writes to the upload. */
  async enter(id: string): Promise<Writing> {
    for (let other = this.#entries.get(id); other !== undefined; other = this.#entries.get(id)) {
      other.controller.abort(new LadeError('upload_in_use', { retryAfterSeconds: 1 }))
      await other.ended
    }
    const controller = new AbortController()
    let leave: () => void = () => {}
    const ended = new Promise<void>((resolve) => {
      leave = resolve
    })
    const entry: Entry = { controller, ended, isEnding: false }
    this.#entries.set(id, entry)
    return {
      signal: controller.signal,
      isEnding: () => {
        entry.isEnding = true
      },
      leave: () => {
        this.#entries.delete(id)
        leave()
      },
    }
  }

  /** Ends the request that writes to an upload, and resolves when it has ended. */
  async end(id: string): Promise<void> {
    const entry = this.#entries.get(id)
    entry?.controller.abort(new LadeError('not_found', { reason: 'The upload was terminated.' }))
    await entry?.ended
  }

  /** Waits a while for a request that is about to end, so that what it kept is told. */
  async settled(id: string): Promise<void> {
    const entry = this.#entries.get(id)
    if (entry === undefined || !entry.isEnding) return
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ENDING_MS)
    })
    await Promise.race([entry.ended, late])
    clearTimeout(timer)
  }
}
