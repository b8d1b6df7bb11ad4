import type { FileEnd, FileRecord } from '../../record-store.ts'
import type { Connection } from './connection.ts'
import type { DiscardWrites } from './discard-writes.ts'
import { type FileRow, fileFromRow } from './file-row.ts'

/** Ends of files. Each function runs inside one transaction that the writer opens. */
export function prepareFileWrites(db: Connection, discards: DiscardWrites) {
  const liveFile = db.prepare<[string, string], FileRow>(
    'SELECT * FROM files WHERE principal = ? AND key = ? AND ended_at IS NULL',
  )
  const pastTerm = db.prepare<[number, number], FileRow>(
    'SELECT * FROM files WHERE ended_at IS NULL AND expires_at <= ? ORDER BY expires_at LIMIT ?',
  )
  const endFile = db.prepare<[number, FileEnd, number]>('UPDATE files SET ended_at = ?, end = ? WHERE sequence = ?')
  const otherLive = db
    .prepare<[string], number>('SELECT 1 FROM files WHERE sha256 = ? AND ended_at IS NULL LIMIT 1')
    .pluck()
  const deleteObject = db
    .prepare<[string], number>('DELETE FROM objects WHERE sha256 = ? RETURNING inline IS NOT NULL')
    .pluck()

  function end(row: FileRow, endedAt: number, reason: FileEnd, now: number): void {
    endFile.run(endedAt, reason, row.sequence)
    if (otherLive.get(row.sha256) !== undefined) return
    const wasInline = deleteObject.get(row.sha256)
    if (wasInline === 0) discards.discardUnlessNeeded(row.sha256, now)
  }

  return {
    remove({ principal, key, now }: { principal: string; key: string; now: number }): FileRecord | undefined {
      const live = liveFile.get(principal, key)
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
