import type { FileEnd, FileRecord } from '../../record-store.ts'
import type { Connection } from './connection.ts'
import { prepareContentReads } from './content-reads.ts'
import type { ContentWrites } from './content-writes.ts'
import type { DiscardWrites } from './discard-writes.ts'
import { FILE_COLUMNS, FILE_ROWS, type FileRow, fileFromRow } from './file-row.ts'

/** Ends of files. Each function runs inside one transaction that the writer opens. */
export function prepareFileWrites(db: Connection, contents: ContentWrites, discards: DiscardWrites) {
  const content = prepareContentReads(db)
  const pastTerm = db.prepare<[number, number], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS} WHERE ended_at IS NULL AND expires_at <= ? ORDER BY expires_at LIMIT ?`,
  )
  const endFile = db.prepare<[number, FileEnd, number]>('UPDATE files SET ended_at = ?, end = ? WHERE sequence = ?')
  const otherLive = db
    .prepare<[number], number>('SELECT 1 FROM files WHERE object = ? AND ended_at IS NULL LIMIT 1')
    .pluck()
  const placeOf = db.prepare<[number], string>('SELECT place FROM objects WHERE id = ?').pluck()

  function end(row: FileRow, endedAt: number, reason: FileEnd, now: number): void {
    endFile.run(endedAt, reason, row.sequence)
    if (otherLive.get(row.object) !== undefined) return
    const place = placeOf.get(row.object)
    contents.dropBytes(row.object)
    if (place === 'blob') discards.discardUnlessNeeded(row.sha256, now)
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
