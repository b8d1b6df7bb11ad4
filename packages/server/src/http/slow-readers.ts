import type { Socket } from 'node:net'
import { sendQueues } from './send-queues.ts'

/** An answer is ended when its reader takes less than this in a minute, however steadily it drips. */
const MIN_BYTES_PER_MINUTE = 60 * 1024

export interface SlowReadersOptions {
  /** A reader that takes nothing for this long is cut off. @default 60_000 */
  readonly idleMs?: number
  /** Over how long the least rate is measured. @default 60_000 */
  readonly minuteMs?: number
  /** A monotonic clock, in milliseconds. @default performance.now */
  readonly now?: () => number
  /** What the kernel holds for the peers of descriptors. @default what Linux says */
  readonly sendQueues?: typeof sendQueues
  /** Told of a connection right before it is cut off. */
  readonly onCut: (socket: Socket) => void
}

/** What Node keeps of a connection below its streams. */
interface Handle {
  readonly fd: number
  /** All bytes that were handed to it. */
  readonly bytesWritten: number
  /** Those of them that the kernel has not taken yet. */
  readonly writeQueueSize: number
}

/** Where a connection carries how it is cut off. */
const CUT_OFF = Symbol('cut off')

type WatchedSocket = Socket & { readonly _handle?: Handle | null; [CUT_OFF]?: () => void }

interface Watched {
  readonly socket: WatchedSocket
  takenBytes: number
  /** Bytes that the peer has acknowledged; undefined while nobody has looked. */
  acknowledgedBytes: number | undefined
  lastProgressAt: number
  minuteStartedAt: number
  minuteBytes: number
}

/**
 * Cuts off readers that do not read: those that take nothing for a minute while bytes wait for them, or less than 60 KiB in a minute. One timer
 * watches all connections, whatever is answered on them.
 *
 * What the kernel has taken counts as progress, and so does what the peer acknowledges: the kernel holds up to 4 MiB, and takes more only when
 * a third of that is free, which is minutes for a reader on a slow line. While nothing waits in this process (the store is slow, or the answer
 * is complete) it is not the reader's time.
 *
 * The time limits of Node's sockets do not do this. They see no difference between a queue that shrinks and one that has just been filled, and
 * end a reader that takes nothing after two periods; one that takes a byte in each is never ended.
 *
 * @example
 * const slowReaders = new SlowReaders({ onCut: (socket) => log.info({ peer: socket.remoteAddress }, 'cut off') })
 * server.on('connection', (socket) => slowReaders.watch(socket))
 */
export class SlowReaders {
  readonly #watched = new Set<Watched>()
  readonly #options: Required<SlowReadersOptions>
  readonly #timer: NodeJS.Timeout
  #nextLookAt = 0
  #isLooking = false

  constructor(options: SlowReadersOptions) {
    this.#options = { idleMs: 60_000, minuteMs: 60_000, now: () => performance.now(), sendQueues, ...options }
    this.#timer = setInterval(() => this.#check(), Math.min(1000, this.#options.idleMs / 6))
    this.#timer.unref()
  }

  /** Watches a connection until it is closed. */
  watch(socket: WatchedSocket): void {
    const now = this.#options.now()
    const watched: Watched = {
      socket,
      takenBytes: 0,
      acknowledgedBytes: undefined,
      lastProgressAt: now,
      minuteStartedAt: now,
      minuteBytes: 0,
    }
    this.#watched.add(watched)
    socket[CUT_OFF] = () => this.#cut(watched)
    socket.once('close', () => this.#watched.delete(watched))
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #check(): void {
    const { idleMs, minuteMs, now: clock } = this.#options
    const now = clock()
    const stalled: Watched[] = []
    for (const watched of this.#watched) {
      const handle = watched.socket._handle
      if (!handle) continue
      const { bytesWritten, writeQueueSize } = handle
      const takenBytes = bytesWritten - writeQueueSize
      if (takenBytes > watched.takenBytes) advance(watched, takenBytes - watched.takenBytes, now)
      watched.takenBytes = takenBytes
      if (writeQueueSize === 0) {
        watched.acknowledgedBytes = undefined
        watched.lastProgressAt = now
        startMinute(watched, now)
      } else if (now - watched.lastProgressAt >= idleMs || this.#isDripping(watched, now)) this.#cut(watched)
      else if (now - watched.minuteStartedAt >= minuteMs) startMinute(watched, now)
      else if (now - watched.lastProgressAt >= idleMs / 6) stalled.push(watched)
    }
    if (stalled.length > 0 && now >= this.#nextLookAt && !this.#isLooking) void this.#look(stalled)
  }

  #isDripping({ minuteStartedAt, minuteBytes }: Watched, now: number): boolean {
    return now - minuteStartedAt >= this.#options.minuteMs && minuteBytes < MIN_BYTES_PER_MINUTE
  }

  /** A reset and no orderly end: the kernel throws away what it holds, and an HTTP/1.0 client does not take a part for the whole. */
  #cut(watched: Watched): void {
    if (!this.#watched.delete(watched)) return
    this.#options.onCut(watched.socket)
    watched.socket.resetAndDestroy()
  }

  /** Finds out what those who seem to stand still have acknowledged meanwhile. */
  async #look(stalled: readonly Watched[]): Promise<void> {
    const { idleMs, now, sendQueues: queuesOf } = this.#options
    this.#isLooking = true
    try {
      const queues = await queuesOf(stalled.map(({ socket }) => socket._handle?.fd ?? -1))
      for (const [index, watched] of stalled.entries()) {
        const queuedBytes = queues[index]
        if (queuedBytes === undefined) continue
        const acknowledgedBytes = watched.takenBytes - queuedBytes
        const before = watched.acknowledgedBytes
        watched.acknowledgedBytes = acknowledgedBytes
        if (before !== undefined && acknowledgedBytes > before) advance(watched, acknowledgedBytes - before, now())
      }
    } finally {
      this.#isLooking = false
      this.#nextLookAt = now() + idleMs / 6
    }
  }
}

/** Cuts off the reader of a connection before its time, and counts it like the others. */
export function cutOffReader(socket: WatchedSocket): void {
  if (socket[CUT_OFF] === undefined) socket.resetAndDestroy()
  else socket[CUT_OFF]()
}

function advance(watched: Watched, bytes: number, now: number): void {
  watched.minuteBytes += bytes
  watched.lastProgressAt = now
}

function startMinute(watched: Watched, now: number): void {
  watched.minuteStartedAt = now
  watched.minuteBytes = 0
}
