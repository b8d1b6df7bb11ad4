import type { Connection } from './connection.ts'
import { failureOf, type WriteCall, type WriteReply } from './writer-protocol.ts'
import { prepareWrites, type WriteName } from './writes.ts'

/**
 * Runs many writes in one transaction with one fsync, each all or nothing by itself.
 *
 * When a write throws, or the transaction cannot be committed, everything is rolled back and each write is run again in a
 * transaction of its own: the good ones stay and the bad one fails alone.
 */
export function groupCommitter(db: Connection): (calls: readonly WriteCall[]) => WriteReply[] {
  const writes: Record<WriteName, (input: never) => unknown> = prepareWrites(db)
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const rollback = db.prepare('ROLLBACK')

  function runTogether(calls: readonly WriteCall[]): WriteReply[] {
    begin.run()
    try {
      const replies = calls.map(({ name, input }) => ({ output: writes[name](input as never) }))
      commit.run()
      return replies
    } catch (error) {
      // Some failures (a full disk) have ended the transaction already.
      if (db.inTransaction) rollback.run()
      throw error
    }
  }

  function runAlone(call: WriteCall): WriteReply {
    try {
      const [reply] = runTogether([call])
      return reply ?? { failure: failureOf(new Error('no reply')) }
    } catch (error) {
      return { failure: failureOf(error) }
    }
  }

  return (calls) => {
    try {
      return runTogether(calls)
    } catch (error) {
      return calls.length === 1 ? [{ failure: failureOf(error) }] : calls.map(runAlone)
    }
  }
}
