import { Worker } from 'node:worker_threads'
import { collectSoon } from '@lade/node/memory/collect-when-quiet'
import type { LogState, RoundReply } from './checkpoint-protocol.ts'
import type { Connection } from './connection.ts'
import { failureOf, isMediumFailure, type WriteFailure } from './writer-protocol.ts'

/** So much waits in the log before it is worth a round, so that a page that changes often is moved once. */
const WORTH_A_ROUND_PAGES = 2000
/** From here on little is left to the round that ends the log. */
const SOON_ANEW_PAGES = 3000
const WORTH_LITTLE_PAGES = 250
/** From here on the connection that writes moves all that is left, after which SQLite starts the log from its beginning. */
const LONG_LOG_PAGES = 4000
/** A thread that has had nothing to do for as long ends, and the next round starts another one. */
const IDLE_MS = 30_000

/** Moves committed pages from the log into the database file, beside the commits. */
export interface Checkpointer {
  /** To be called after every commit; mostly costs some microseconds. */
  committed(): void
  /** Ends the thread, if there is one, after the round that is under way. */
  close(): Promise<void>
}

/**
 * A checkpointer for the connection that writes.
 *
 * SQLite moves pages by itself, within one commit of many: in a database whose pages are touched all over, that one takes ten times as long
 * as the others and makes whoever waits for it wait, and it does not report a failure. Here a thread with a connection of its own does it
 * while commits go on, and leaves the last few pages to the connection that writes. When the thread cannot start, or another process is
 * moving pages, the writing connection moves everything.
 *
 * @param onMediumFailure - called when the disk failed: nothing may be written any more, since a second fsync of the same pages can succeed
 *   without their being on the disk.
 */
export function createCheckpointer(
  connection: Connection,
  file: string,
  onMediumFailure: (failure: WriteFailure) => void,
  { idleMs = IDLE_MS }: { readonly idleMs?: number } = {},
): Checkpointer {
  const state = connection.prepare<[], LogState>('PRAGMA wal_checkpoint(NOOP)')
  const checkpoint = connection.prepare<[], LogState>('PRAGMA wal_checkpoint(PASSIVE)')
  let thread: Worker | undefined
  let ended: Promise<unknown> = Promise.resolve()
  let idle: NodeJS.Timeout | undefined
  let isUnderWay = false
  let hasFailed = false

  function begin(): Worker {
    const worker = new Worker(new URL('./checkpoint-thread.ts', import.meta.url), { workerData: { file } })
    worker.on('message', ({ failure }: RoundReply) => {
      isUnderWay = false
      idle = setTimeout(end, idleMs).unref()
      if (failure !== undefined) report(failure)
    })
    worker.on('error', () => {
      hasFailed = true
    })
    return worker
  }

  /** Lets the thread end by itself, after what it has been sent. */
  function end(): void {
    clearTimeout(idle)
    const ending = thread
    thread = undefined
    if (ending === undefined || hasFailed) return
    ended = new Promise((resolve) => ending.once('exit', resolve)).then(collectSoon)
    ending.postMessage('close')
  }

  /** A full disk, or a database that is locked for long, says nothing about the disk. */
  function report(failure: WriteFailure): void {
    if (isMediumFailure(failure.code)) onMediumFailure(failure)
  }

  function moveAll(): void {
    try {
      checkpoint.get()
    } catch (error) {
      report(failureOf(error))
    }
  }

  return {
    committed() {
      const { log, checkpointed } = state.get() ?? { log: 0, checkpointed: 0 }
      const waiting = log - checkpointed
      if (log >= LONG_LOG_PAGES && waiting > 0) return moveAll()
      if (isUnderWay || hasFailed) return
      if (waiting < (log < SOON_ANEW_PAGES ? WORTH_A_ROUND_PAGES : WORTH_LITTLE_PAGES)) return
      isUnderWay = true
      clearTimeout(idle)
      thread ??= begin()
      thread.postMessage('round')
    },
    async close() {
      end()
      await ended
    },
  }
}
