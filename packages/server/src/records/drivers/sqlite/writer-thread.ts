import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { createCheckpointer } from './checkpointer.ts'
import { openConnection } from './connection.ts'
import { groupCommitter } from './group-commit.ts'
import { movedCheck } from './moved-check.ts'
import type { BatchReply, WriteCall, WriteFailure, WriterSettings } from './writer-protocol.ts'

/** The thread that owns the writing connection, so that waiting for the disk never stops the event loop. */
if (parentPort === null) throw new TypeError('writer-thread.ts runs as a worker')
const parent: MessagePort = parentPort

/** About as many writes share a commit at most; more wait for the next one. */
const MAX_GROUP = 512

const settings: WriterSettings = workerData
const connection = openConnection(settings.file, { maxSizeBytes: settings.maxSizeBytes })
const checkpointer = createCheckpointer(connection, settings.file)
const hasMoved = movedCheck(settings.file)
const MOVED: WriteFailure = { code: 'SQLITE_READONLY_DBMOVED', message: 'the database file was removed or replaced' }
const commitTogether = groupCommitter(connection)

parent.on('message', (first: readonly WriteCall[] | 'close') => {
  const calls: WriteCall[] = []
  let next: { message: readonly WriteCall[] | 'close' } | undefined = { message: first }
  let isClosing = false
  // What came in while the last commit was under way shares this one.
  while (next !== undefined && !isClosing) {
    if (next.message === 'close') isClosing = true
    else calls.push(...next.message)
    next = calls.length < MAX_GROUP ? receiveMessageOnPort(parent) : undefined
  }
  if (calls.length > 0) {
    parent.postMessage(run(calls))
    // Behind the answer, which need not wait for it.
    checkpointer.committed()
  }
  if (isClosing) void close()
})

async function close(): Promise<void> {
  await checkpointer.close()
  connection.close()
  parent.close()
}

function run(calls: readonly WriteCall[]): BatchReply {
  const replies = commitTogether(calls)
  // Asked after the commit: a file that is still in place now is the one that took it.
  return { replies: hasMoved() ? calls.map(() => ({ failure: MOVED })) : replies }
}
