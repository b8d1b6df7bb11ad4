import { LadeError } from '@lade/core/errors'
import { MINUTE_MS } from '@lade/core/time'

/** A body is ended when it brings less than this in a minute, however steadily it drips, */
const MIN_BYTES_PER_MINUTE = 60 * 1024
/** and a big one when it would take longer than a day at that rate, */
const MINUTES_PER_DAY = 24 * 60
/** but never for being slow that has half of 1 Mbit/s. */
const MAX_LEAST_BYTES_PER_MINUTE = (60 * 1_000_000) / 8 / 2

/**
 * What a body must bring in each minute: 60 KiB, and from 84 MiB on the size in a day, up to half of 1 Mbit/s.
 *
 * @example leastBytesPerMinute(5 * 2 ** 30) // 3728270, which is 0.5 Mbit/s
 */
export function leastBytesPerMinute(sizeBytes: number): number {
  const inADay = Math.floor(sizeBytes / MINUTES_PER_DAY)
  return Math.max(MIN_BYTES_PER_MINUTE, Math.min(inADay, MAX_LEAST_BYTES_PER_MINUTE))
}

/** A body that is given up when it does not progress. */
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
  readonly leastBytesPerMinute: number
  readonly controller: AbortController
  readonly isAwaited: () => boolean
}

/**
 * Ends uploads that stand still: nothing for `idleMs`, or less in a minute than `leastBytesPerMinute` of their size, since what is announced
 * is held meanwhile: a place among the uploads in flight, its part of the quota, and room. One timer watches all of them.
 *
 * 5 GiB at 1 Mbit/s is half a day and legitimate, and so is any other size at that rate.
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
   * @param sizeBytes - how much it is going to bring.
   */
  watch(controller: AbortController, isAwaited: () => boolean = () => true, sizeBytes = 0): WatchedBody {
    const now = this.#now()
    const body: Watched = {
      receivedBytes: 0,
      lastProgressAt: now,
      minuteStartedAt: now,
      minuteStartBytes: 0,
      leastBytesPerMinute: leastBytesPerMinute(sizeBytes),
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
    return broughtBytes < body.leastBytesPerMinute
  }
}
