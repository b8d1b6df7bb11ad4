import { prepareLeaseFence } from '../../sql/lease-fence.ts'
import type { Steps } from '../../sql/sql.ts'
import { prepareWrites, type WriteInput, type WriteName } from '../../sql/writes.ts'
import type { Connection } from './connection.ts'
import { runNow, sqliteSql } from './sqlite-sql.ts'
import { failureOf, isMediumFailure, type WriteCall, type WriteReply } from './writer-protocol.ts'

/**
 * Runs many writes in one transaction with one fsync, each all or nothing by itself.
 *
 * When a write throws, or there is no room for all of them, everything is rolled back and each write is run again in a
 * transaction of its own: the good ones stay and the bad one fails alone. After a failure of the medium nothing is run
 * again, since a second fsync of the same file could succeed without the bytes being there; nor is it when the
 * database was locked for too long, which is no write's fault.
 */
export function groupCommitter(db: Connection): (calls: readonly WriteCall[]) => WriteReply[] {
  const sql = sqliteSql(db)
  const prepared = prepareWrites(sql)
  const writes: Record<WriteName, (input: never) => Steps<unknown>> = prepared
  const leaseFence = prepareLeaseFence(sql)
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const rollback = db.prepare('ROLLBACK')

  function runWrite({ name, input, fence }: WriteCall): WriteReply {
    if (fence !== undefined) runNow(leaseFence.require(fence))
    return { output: runNow(writes[name](input as never)) }
  }

  /** Uploads that follow each other are one write. */
  function runInOrder(calls: readonly WriteCall[]): WriteReply[] {
    const replies: WriteReply[] = []
    for (let next = calls[0]; next !== undefined; next = calls[replies.length]) {
      const uploads = uploadsFrom(calls, replies.length)
      if (uploads.length === 0) replies.push(runWrite(next))
      else for (const output of runNow(prepared['quotas.commitEach'](uploads))) replies.push({ output })
    }
    return replies
  }

  function runTogether(calls: readonly WriteCall[]): WriteReply[] {
    begin.run()
    try {
      const replies = runInOrder(calls)
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
      const failure = failureOf(error)
      const isOfOneWrite = !isMediumFailure(failure.code) && !failure.code.startsWith('SQLITE_BUSY')
      return isOfOneWrite && calls.length > 1 ? calls.map(runAlone) : calls.map(() => ({ failure }))
    }
  }
}

/** The uploads from a place on, up to the first other write. */
function uploadsFrom(calls: readonly WriteCall[], place: number): WriteInput<'quotas.commitEach'> {
  const end = calls.findIndex(
    ({ name, fence }, at) => at >= place && (name !== 'quotas.commitAtOnce' || fence !== undefined),
  )
  const uploads = calls.slice(place, end < 0 ? calls.length : end)
  return uploads.map(({ input }) => input as WriteInput<'quotas.commitAtOnce'>)
}
