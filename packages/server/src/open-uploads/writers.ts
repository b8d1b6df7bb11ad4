import { LadeError } from '@lade/core/errors'

/** How long a request that has been ended is waited for: it may be storing the file. */
const ENDING_MS = 10_000

/** A request that writes to an upload. */
export interface Writing {
  /** Aborted when a newer request takes over. */
  readonly signal: AbortSignal
  leave(): void
}

interface Entry {
  readonly controller: AbortController
  readonly ended: Promise<void>
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
    const entry: Entry = { controller, ended }
    this.#entries.set(id, entry)
    return {
      signal: controller.signal,
      leave: () => {
        this.#entries.delete(id)
        leave()
      },
    }
  }

  /**
   * Ends the request that writes to an upload, and waits a while for what it has to do with bytes that came. Clients ask about an upload, or
   * terminate it, when they believe that their request has failed.
   */
  async end(id: string): Promise<void> {
    const entry = this.#entries.get(id)
    if (entry === undefined) return
    entry.controller.abort(new LadeError('upload_in_use', { retryAfterSeconds: 1 }))
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ENDING_MS)
    })
    await Promise.race([entry.ended, late])
    clearTimeout(timer)
  }
}
