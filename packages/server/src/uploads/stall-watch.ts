import { LadeError } from '@lade/core/errors'

/** A body is ended when it brings less than this in a minute, however steadily it drips. */
const MIN_BYTES_PER_MINUTE = 60 * 1024
const MINUTE_MS = 60_000

export interface WatchedBody {
  /** To be called with the running total whenever bytes arrive. */
  progress(receivedBytes: number): void
  /** The body is no longer watched: it ended, well or badly. */
  end(): void
}

interface Watched {
  receivedBytes: number
  lastProgressAt: number
  minuteStartedAt: number
  minuteStartBytes: number
  readonly controller: AbortController
  readonly isAwaited: () => boolean
}

/**
 * Ends uploads that stand still: nothing for `idleMs`, or less than 60 KiB in a minute. One timer watches all of them.
 *
 * There is no limit on how long an upload may take: 5 GiB at 1 Mbit/s is half a day and legitimate.
 */
export class StallWatch {
  readonly #bodies = new Set<Watched>()
  readonly #idleMs: number
  readonly #now: () => number
  readonly #timer: NodeJS.Timeout

  constructor(options: { readonly idleMs: number; readonly now: () => number }) {
    this.#idleMs = options.idleMs
    this.#now = options.now
    this.#timer = setInterval(() => this.#check(), Math.min(1000, options.idleMs / 4))
    this.#timer.unref()
  }

  /** Uploads under watch right now. */
  get count(): number {
    return this.#bodies.size
  }

  /**
   * Watches one body; `controller` is aborted with `body_timeout` when it stalls.
   *
   * @param isAwaited - false while nobody takes from the body, such as while the store is slow: that is not its sender's time.
   */
  watch(controller: AbortController, isAwaited: () => boolean = () => true): WatchedBody {
    const now = this.#now()
    const body: Watched = {
      receivedBytes: 0,
      lastProgressAt: now,
      minuteStartedAt: now,
      minuteStartBytes: 0,
      controller,
      isAwaited,
    }
    this.#bodies.add(body)
    return {
      progress: (receivedBytes) => {
        body.receivedBytes = receivedBytes
        body.lastProgressAt = this.#now()
      },
      end: () => void this.#bodies.delete(body),
    }
  }

  /** Ends every upload that is still under way, as the last step of a shutdown. */
  abortAll(reason: LadeError): void {
    for (const body of this.#bodies) body.controller.abort(reason)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #check(): void {
    const now = this.#now()
    for (const body of this.#bodies) {
      if (!body.isAwaited()) {
        body.lastProgressAt = now
        body.minuteStartedAt = now
        body.minuteStartBytes = body.receivedBytes
        continue
      }
      const isIdle = now - body.lastProgressAt >= this.#idleMs
      if (isIdle || this.#isDripping(body, now)) {
        body.controller.abort(new LadeError('body_timeout', { receivedBytes: body.receivedBytes }))
        this.#bodies.delete(body)
      }
    }
  }

  #isDripping(body: Watched, now: number): boolean {
    if (now - body.minuteStartedAt < MINUTE_MS) return false
    const broughtBytes = body.receivedBytes - body.minuteStartBytes
    body.minuteStartedAt = now
    body.minuteStartBytes = body.receivedBytes
    return broughtBytes < MIN_BYTES_PER_MINUTE
  }
}
