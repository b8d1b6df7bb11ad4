import { parentPort, workerData } from 'node:worker_threads'
import { openConnection } from './connection.ts'
import { groupCommitter } from './group-commit.ts'
import { movedCheck } from './moved-check.ts'
import type { BatchReply, WriteCall, WriteFailure, WriterSettings } from './writer-protocol.ts'

/** The thread that owns the writing connection, so that waiting for the disk never stops the event loop. */
const port = parentPort
if (port === null) throw new TypeError('writer-thread.ts runs as a worker')

const settings: WriterSettings = workerData
const connection = openConnection(settings.file, { maxSizeBytes: settings.maxSizeBytes })
const hasMoved = movedCheck(settings.file)
const MOVED: WriteFailure = { code: 'SQLITE_READONLY_DBMOVED', message: 'the database file was removed or replaced' }
const commitTogether = groupCommitter(connection)

port.on('message', (message: readonly WriteCall[] | 'close') => {
  if (message === 'close') {
    connection.close()
    port.close()
    return
  }
  const replies = commitTogether(message)
  // Asked after the commit: a file that is still in place now is the one that took it.
  const reply: BatchReply = { replies: hasMoved() ? message.map(() => ({ failure: MOVED })) : replies }
  port.postMessage(reply)
})
