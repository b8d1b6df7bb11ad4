import type { FileEnd, FileRecord } from '../../record-store.ts'
import type { Connection } from './connection.ts'
import { prepareContentReads } from './content-reads.ts'
import type { DiscardWrites } from './discard-writes.ts'
import { FILE_COLUMNS, FILE_ROWS, type FileRow, fileFromRow } from './file-row.ts'

/** Ends of files. Each function runs inside one transaction that the writer opens. */
export function prepareFileWrites(db: Connection, discards: DiscardWrites) {
  const content = prepareContentReads(db)
  const pastTerm = db.prepare<[number, number], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS} WHERE ended_at IS NULL AND expires_at <= ? ORDER BY expires_at LIMIT ?`,
  )
  const endFile = db.prepare<[number, FileEnd, number]>('UPDATE files SET ended_at = ?, end = ? WHERE sequence = ?')
  const otherLive = db
    .prepare<[number], number>('SELECT 1 FROM files WHERE object = ? AND ended_at IS NULL LIMIT 1')
    .pluck()
  const placeOf = db.prepare<[number], string>('SELECT place FROM objects WHERE id = ?').pluck()
  const dropBytes = db.prepare<[number]>("UPDATE objects SET place = 'none', inline = NULL WHERE id = ?")

  function end(row: FileRow, endedAt: number, reason: FileEnd, now: number): void {
    endFile.run(endedAt, reason, row.sequence)
    if (otherLive.get(row.object) !== undefined) return
    const place = placeOf.get(row.object)
    dropBytes.run(row.object)
    if (place === 'blob') discards.discardUnlessNeeded(row.sha256, now)
  }

  return {
    remove({ principal, key, now }: { principal: string; key: string; now: number }): FileRecord | undefined {
      const live = content.liveFile(principal, key)
      if (live === undefined) return undefined
      const expired = live.expires_at <= now
      end(live, expired ? live.expires_at : now, expired ? 'expired' : 'removed', now)
      return expired ? undefined : { ...fileFromRow(live), endedAt: now, end: 'removed' }
    },

    expire({ now, limit }: { now: number; limit: number }): number {
      const rows = pastTerm.all(now, limit)
      for (const row of rows) end(row, row.expires_at, 'expired', now)
      return rows.length
    },
  }
}
