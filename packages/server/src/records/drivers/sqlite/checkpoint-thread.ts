import { parentPort, workerData } from 'node:worker_threads'
import type { LogState, RoundReply } from './checkpoint-protocol.ts'
import { openConnection } from './connection.ts'
import { failureOf } from './writer-protocol.ts'

/** The thread that moves pages out of the log. See {@link createCheckpointer}. */
if (parentPort === null) throw new TypeError('checkpoint-thread.ts runs as a worker')
const parent = parentPort

/** What commits have added while pages were moved is moved as well, but not for ever. */
const MAX_TURNS = 4
const LITTLE_PAGES = 100

const { file }: { file: string } = workerData
const connection = openConnection(file, { mustExist: true })
const checkpoint = connection.prepare<[], LogState>('PRAGMA wal_checkpoint(PASSIVE)')

parent.on('message', (message: 'round' | 'close') => {
  if (message === 'close') {
    connection.close()
    parent.close()
    return
  }
  parent.postMessage(round())
})

function round(): RoundReply {
  try {
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      const { log, checkpointed } = checkpoint.get() ?? { log: 0, checkpointed: 0 }
      if (log - checkpointed < LITTLE_PAGES) break
    }
    return {}
  } catch (error) {
    return { failure: failureOf(error) }
  }
}
