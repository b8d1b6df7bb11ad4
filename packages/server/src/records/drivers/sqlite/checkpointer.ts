import { Worker } from 'node:worker_threads'
import type { Connection } from './connection.ts'

/** What SQLite says of its log, in pages; all are -1 where there is none. */
export interface LogState {
  readonly log: number
  readonly checkpointed: number
}

/** So much waits in the log before it is worth a round, so that a page that changes often is moved once. */
const WORTH_A_ROUND_PAGES = 2000
/** From here on little is left to the commit that starts the log anew, see `wal_autocheckpoint`. */
const SOON_ANEW_PAGES = 3000
const WORTH_LITTLE_PAGES = 250

/** Moves committed pages from the log into the database file, beside the commits. */
export interface Checkpointer {
  /** To be called after every commit; costs some microseconds. */
  committed(): void
  /** Ends the thread, if there is one, after the round that is under way. */
  close(): Promise<void>
}

/**
 * A checkpointer for the connection that writes.
 *
 * SQLite moves pages by itself, within one commit of many: in a database whose pages are touched all over, that one takes ten times as long
 * as the others and makes whoever waits for it wait. Here a thread with a connection of its own does it while commits go on, and leaves
 * them the last few pages, after which SQLite begins the log anew. It promises nothing: when it fails, or another process is at it,
 * the commits move everything as they would without it. A round that fails is repeated from its first page, so that nothing rests on a
 * write that the medium did not take.
 */
export function createCheckpointer(connection: Connection, file: string): Checkpointer {
  const state = connection.prepare<[], LogState>('PRAGMA wal_checkpoint(NOOP)')
  let thread: Worker | undefined
  let isUnderWay = false
  let hasFailed = false

  function begin(): Worker {
    const worker = new Worker(new URL('./checkpoint-thread.ts', import.meta.url), { workerData: { file } })
    worker.on('message', () => {
      isUnderWay = false
    })
    worker.on('error', () => {
      hasFailed = true
    })
    return worker
  }

  return {
    committed() {
      if (isUnderWay || hasFailed) return
      const { log, checkpointed } = state.get() ?? { log: 0, checkpointed: 0 }
      const waiting = log - checkpointed
      if (waiting < (log < SOON_ANEW_PAGES ? WORTH_A_ROUND_PAGES : WORTH_LITTLE_PAGES)) return
      isUnderWay = true
      thread ??= begin()
      thread.postMessage('round')
    },
    async close() {
      const ending = thread
      thread = undefined
      if (ending === undefined || hasFailed) return
      const exited = new Promise((resolve) => ending.once('exit', resolve))
      ending.postMessage('close')
      await exited
    },
  }
}
