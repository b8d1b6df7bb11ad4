import type { FileRecord } from '../../record-store.ts'
import type { Connection } from './connection.ts'
import { prepareContentReads } from './content-reads.ts'
import { prepareDealClosing } from './deal-closing.ts'
import { FILE_COLUMNS, FILE_ROWS, type FileRow, fileFromRow } from './file-row.ts'
import type { ObjectRelease } from './object-release.ts'

/** Ends of files. Each function runs inside one transaction that the writer opens. */
export function prepareFileWrites(db: Connection, { releaseObject }: ObjectRelease) {
  const content = prepareContentReads(db)
  const { closeDeal } = prepareDealClosing(db)
  const pastTerm = db.prepare<[number, number], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS} WHERE ended_at IS NULL AND expires_at <= ? ORDER BY expires_at LIMIT ?`,
  )
  const endFile = db.prepare<[number, 'expired' | 'removed', number]>(
    'UPDATE files SET ended_at = ?, end = ? WHERE sequence = ?',
  )

  function end(row: FileRow, endedAt: number, reason: 'expired' | 'removed', now: number): void {
    endFile.run(endedAt, reason, row.sequence)
    closeDeal(row.sequence, now)
    releaseObject(row.object, now)
  }

  return {
    remove({ principal, key, now }: { principal: string; key: string; now: number }): FileRecord | undefined {
      for (const { object } of content.objectsNamedBy(key)) {
        const row = content.openFile(principal, object, key)
        if (row === undefined) continue
        if (row.expires_at > now) {
          end(row, now, 'removed', now)
          return { ...fileFromRow(row), endedAt: now, end: 'removed' }
        }
        end(row, row.expires_at, 'expired', now)
      }
      return undefined
    },

    expire({ now, limit }: { now: number; limit: number }): number {
      const rows = pastTerm.all(now, limit)
      for (const row of rows) end(row, row.expires_at, 'expired', now)
      return rows.length
    },
  }
}
