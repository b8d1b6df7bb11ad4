import type { FileRecord } from '../record-store.ts'
import { prepareContentReads } from './content-reads.ts'
import { prepareDealClosing } from './deal-closing.ts'
import { FILE_COLUMNS, FILE_ROWS, type FileRow, fileFromRow } from './file-row.ts'
import type { ObjectRelease } from './object-release.ts'
import { forEach, type Sql, type Steps } from './sql.ts'
import { prepareUsageWrites } from './usage-writes.ts'

interface RemoveRequest {
  readonly principal: string
  readonly key: string
  readonly now: number
}

/** Ends of files. Each function runs inside the caller's transaction. */
export function prepareFileWrites(db: Sql, { releaseObject }: ObjectRelease) {
  const content = prepareContentReads(db)
  const { closeDeal } = prepareDealClosing(db)
  const { fileEnded } = prepareUsageWrites(db)
  const pastTerm = db.prepare<[number, number], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS} WHERE ended_at IS NULL AND expires_at <= ? ORDER BY expires_at LIMIT ?`,
  )
  const endFile = db.prepare<[number, 'expired' | 'removed', number]>(
    'UPDATE files SET ended_at = ?, "end" = ? WHERE sequence = ?',
  )

  function* end(row: FileRow, endedAt: number, reason: 'expired' | 'removed', now: number): Steps<void> {
    yield* endFile.run(endedAt, reason, row.sequence)
    yield* fileEnded(row)
    yield* closeDeal(row.sequence, now)
    yield* releaseObject(row.object, now)
  }

  return {
    *remove({ principal, key, now }: RemoveRequest): Steps<FileRecord | undefined> {
      for (const { object } of yield* content.objectsNamedBy(key)) {
        const row = yield* content.openFile(principal, object, key)
        if (row === undefined) continue
        if (row.expires_at > now) {
          yield* end(row, now, 'removed', now)
          return { ...fileFromRow(row), endedAt: now, end: 'removed' }
        }
        yield* end(row, row.expires_at, 'expired', now)
      }
      return undefined
    },

    *expire({ now, limit }: { now: number; limit: number }): Steps<number> {
      const rows = yield* pastTerm.all(now, limit)
      yield* forEach(rows, (row) => end(row, row.expires_at, 'expired', now))
      return rows.length
    },
  }
}
