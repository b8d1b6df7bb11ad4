import { type MessagePort, parentPort, receiveMessageOnPort } from 'node:worker_threads'
import { collectWhenQuiet, freeWhenQuiet } from '@lade/node/memory/collect-when-quiet'
import { createCheckpointer } from './checkpointer.ts'
import { diagnosedFailure, reserveCommitter } from './commit-with-reserve.ts'
import { freePages, openConnection, undoInMemory } from './connection.ts'
import { type DiskState, probeDisk } from './disk-probe.ts'
import { failureMark } from './failure-mark.ts'
import { groupCommitter } from './group-commit.ts'
import { movedCheck } from './moved-check.ts'
import { roomReserve } from './room-reserve.ts'
import {
  type BatchReply,
  type ClosedReply,
  type EndReply,
  isMediumFailure,
  type WorkMessage,
  type WriteCall,
  type WriteFailure,
  type WriterMessage,
  type WriterSettings,
} from './writer-protocol.ts'

/** The thread that owns the writing connection, so that waiting for the disk never stops the event loop. */
if (parentPort === null) throw new TypeError('writer-thread.ts runs as a worker')
const parent: MessagePort = parentPort

/** About as many writes share a commit at most; more wait for the next one. */
const MAX_GROUP = 512
/** How often an idle process looks whether the disk failed another one. */
const LOOK_MS = 1000
const MOVED: WriteFailure = { code: 'SQLITE_READONLY_DBMOVED', message: 'the database file was removed or replaced' }
const FAILED_ELSEWHERE: WriteFailure = {
  code: 'SQLITE_IOERR',
  message: 'the disk failed another process that writes the same records',
}

collectWhenQuiet()
let receive: ((first: WorkMessage) => void) | undefined
parent.on('message', (message: WriterMessage) => {
  if (message !== 'close' && 'open' in message) receive = writeTo(message.open)
  else receive?.(message)
})

/** Opens one file. @returns what takes the messages that are for it. */
function writeTo(settings: WriterSettings): (first: WorkMessage) => void {
  const connection = openConnection(settings.file, { maxSizeBytes: settings.maxSizeBytes })
  undoInMemory(connection)
  const checkpointer = createCheckpointer(connection, settings.file, checkpointFailed)
  const stopFreeing = freeWhenQuiet(() => freePages(connection))
  const hasMoved = movedCheck(settings.file)
  const mark = failureMark(settings.file)
  let ended: WriteFailure | undefined
  const probe = (): DiskState => probeDisk(settings.file)
  const commitTogether = reserveCommitter({
    connection,
    commit: groupCommitter(connection),
    reserve: roomReserve(settings.file),
    probe,
  })
  const looks = setInterval(() => {
    if (mark.isSet()) end(FAILED_ELSEWHERE)
  }, LOOK_MS).unref()

  function receiveNow(first: WorkMessage): void {
    const calls: WriteCall[] = []
    let next: { message: WorkMessage } | undefined = { message: first }
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
      if (ended === undefined) checkpointer.committed()
    }
    if (isClosing) void close()
  }

  async function close(): Promise<void> {
    clearInterval(looks)
    stopFreeing()
    await checkpointer.close()
    // After a failure the log stays as it is, for the next start.
    if (ended !== undefined && !isReadOnly(ended)) return parent.close()
    connection.close()
    receive = undefined
    parent.postMessage({ closed: true } satisfies ClosedReply)
  }

  function run(calls: readonly WriteCall[]): BatchReply {
    if (ended !== undefined) return failed(calls, ended)
    const replies = commitTogether(calls)
    const failure = replies
      .flatMap((reply) => ('failure' in reply ? reply.failure : []))
      .find(({ code }) => isMediumFailure(code))
    if (failure !== undefined) writeNoMore(failure)
    // Asked after the commit: a file that is still in place now is the one that took it.
    else if (hasMoved()) writeNoMore(MOVED)
    else if (mark.isSet()) writeNoMore(FAILED_ELSEWHERE)
    return ended === undefined || ended === failure ? { replies } : failed(calls, ended)
  }

  /** Another attempt could seem to succeed: some file systems never write a page again whose first write failed. */
  function writeNoMore(failure: WriteFailure): void {
    ended ??= failure
    clearInterval(looks)
    if (failure.code.startsWith('SQLITE_IOERR')) mark.set()
  }

  /** What a full disk has no room for stays in the log. */
  function checkpointFailed(failure: WriteFailure): void {
    const found = diagnosedFailure(failure, probe)
    if (found.code !== 'SQLITE_FULL') end(found)
  }

  function end(failure: WriteFailure): void {
    if (ended !== undefined) return
    writeNoMore(failure)
    parent.postMessage({ ended: failure } satisfies EndReply)
  }

  return receiveNow
}

function failed(calls: readonly WriteCall[], failure: WriteFailure): BatchReply {
  return { replies: calls.map(() => ({ failure })) }
}

function isReadOnly({ code }: WriteFailure): boolean {
  return code === 'SQLITE_READONLY'
}
