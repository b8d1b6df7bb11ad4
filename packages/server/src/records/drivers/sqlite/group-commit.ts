import type { Connection } from './connection.ts'
import { failureOf, type WriteCall, type WriteReply } from './writer-protocol.ts'
import { prepareWrites, type WriteName } from './writes.ts'

/**
 * Runs many writes in one transaction with one fsync, each all or nothing by itself.
 *
 * A write that throws is rolled back to where it began and the others stay. When the transaction itself fails (disk
 * full, commit error), every write of it has failed.
 */
export function groupCommitter(db: Connection): (calls: readonly WriteCall[]) => WriteReply[] {
  const writes: Record<WriteName, (input: never) => unknown> = prepareWrites(db)
  const begin = db.prepare('BEGIN IMMEDIATE')
  const savepoint = db.prepare('SAVEPOINT one_write')
  const keep = db.prepare('RELEASE one_write')
  const undo = db.prepare('ROLLBACK TO one_write')
  const commit = db.prepare('COMMIT')
  const rollback = db.prepare('ROLLBACK')

  function runOne(call: WriteCall): WriteReply {
    savepoint.run()
    try {
      const output = writes[call.name](call.input as never)
      keep.run()
      return { output }
    } catch (error) {
      // Some failures (a full disk) end the whole transaction; then nothing of it is left to keep.
      if (!db.inTransaction) throw error
      undo.run()
      keep.run()
      return { failure: failureOf(error) }
    }
  }

  return (calls) => {
    try {
      begin.run()
      const replies = calls.map(runOne)
      commit.run()
      return replies
    } catch (error) {
      if (db.inTransaction) rollback.run()
      const failure = failureOf(error)
      return calls.map(() => ({ failure }))
    }
  }
}
