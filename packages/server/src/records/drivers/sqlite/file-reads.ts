import type { FileRecord, ListFilesRequest, ServingFile } from '../../record-store.ts'
import type { Connection } from './connection.ts'
import { type FileRow, fileFromRow } from './file-row.ts'

/** Point reads and listings of files. */
export function prepareFileReads(db: Connection) {
  const bound = db.prepare<[string], string>('SELECT sha256 FROM names WHERE key = ?').pluck()
  const earliestPublic = db.prepare<[string, number], FileRow>(
    `SELECT * FROM files WHERE sha256 = ? AND ended_at IS NULL AND expires_at > ? AND visibility = 'public'
     ORDER BY sequence LIMIT 1`,
  )
  const earliestOwn = db.prepare<[string, number, string], FileRow>(
    `SELECT * FROM files WHERE sha256 = ? AND ended_at IS NULL AND expires_at > ? AND principal = ?
     ORDER BY sequence LIMIT 1`,
  )
  const latestOf = db.prepare<[string], FileRow>('SELECT * FROM files WHERE sha256 = ? ORDER BY sequence DESC LIMIT 1')
  const anyLive = db
    .prepare<[string, number], number>(
      'SELECT 1 FROM files WHERE sha256 = ? AND ended_at IS NULL AND expires_at > ? LIMIT 1',
    )
    .pluck()
  const inline = db.prepare<[string], Buffer | null>('SELECT inline FROM objects WHERE sha256 = ?').pluck()
  const latest = db.prepare<[string, string], FileRow>(
    'SELECT * FROM files WHERE principal = ? AND key = ? ORDER BY sequence DESC LIMIT 1',
  )
  const bySequence = db.prepare<[number], FileRow>('SELECT * FROM files WHERE sequence = ?')
  // Every filter is optional: NULL lets all rows pass.
  const list = db.prepare<[Record<string, string | number | null>], FileRow>(
    `SELECT * FROM files
     WHERE principal = :principal
       AND (:before IS NULL OR sequence < :before)
       AND (:search IS NULL OR instr(lower(coalesce(filename, '')), lower(:search)) > 0
         OR instr(lower(cid), lower(:search)) > 0)
       AND (:contentType IS NULL OR content_type = :contentType COLLATE NOCASE
         OR content_type LIKE :contentTypePrefix ESCAPE '\\')
       AND CASE :ended
         WHEN 'live' THEN ended_at IS NULL AND expires_at > :now
         WHEN 'removed' THEN end = 'removed'
         WHEN 'expired' THEN end = 'expired' OR (ended_at IS NULL AND expires_at <= :now)
         ELSE 1 END
     ORDER BY sequence DESC LIMIT :limit`,
  )

  return {
    boundSha256: (key: string): string | undefined => bound.get(key),

    serving({ sha256, now, principal }: { sha256: string; now: number; principal?: string }): ServingFile {
      const row =
        earliestPublic.get(sha256, now) ??
        (principal === undefined ? undefined : earliestOwn.get(sha256, now, principal))
      if (row !== undefined) return { outcome: 'found', file: fileFromRow(row) }
      if (anyLive.get(sha256, now) !== undefined) return { outcome: 'private' }
      const ended = latestOf.get(sha256)
      return ended === undefined ? { outcome: 'absent' } : { outcome: 'gone', end: ended.end ?? 'expired' }
    },

    inlineBytes: (sha256: string): Uint8Array | undefined => inline.get(sha256) ?? undefined,

    latest({ principal, key }: { principal: string; key: string }): FileRecord | undefined {
      const row = latest.get(principal, key)
      return row === undefined ? undefined : fileFromRow(row)
    },

    bySequence(sequence: number): FileRecord | undefined {
      const row = bySequence.get(sequence)
      return row === undefined ? undefined : fileFromRow(row)
    },

    list(request: ListFilesRequest): readonly FileRecord[] {
      const { contentType } = request
      return list
        .all({
          principal: request.principal,
          before: request.beforeSequence ?? null,
          search: request.search ?? null,
          contentType: contentType ?? null,
          contentTypePrefix: contentType === undefined ? null : `${contentType.replace(/[\\%_]/g, '\\$&')};%`,
          ended: request.ended ?? null,
          now: request.now,
          limit: request.limit,
        })
        .map(fileFromRow)
    },
  }
}
