import type { FileEnd, FileRecord, ListFilesRequest, ServingFile } from '../../record-store.ts'
import type { Connection } from './connection.ts'
import { prepareContentReads } from './content-reads.ts'
import { FILE_COLUMNS, FILE_ROWS, type FileRow, fileFromRow, opaqueNameOf } from './file-row.ts'

/** Point reads and listings of files. */
export function prepareFileReads(db: Connection) {
  const content = prepareContentReads(db)
  const earliestPublic = db.prepare<[number, number], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS} WHERE object = ? AND ended_at IS NULL AND expires_at > ? AND visibility = 'public'
     ORDER BY sequence LIMIT 1`,
  )
  const earliestOwn = db.prepare<[number, number, string], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS} WHERE object = ? AND ended_at IS NULL AND expires_at > ? AND principal = ?
     ORDER BY sequence LIMIT 1`,
  )
  const latestOf = db.prepare<[number], { readonly end: FileEnd | null }>(
    'SELECT end FROM files WHERE object = ? ORDER BY sequence DESC LIMIT 1',
  )
  const anyLive = db
    .prepare<[number, number], number>(
      'SELECT 1 FROM files WHERE object = ? AND ended_at IS NULL AND expires_at > ? LIMIT 1',
    )
    .pluck()
  const inline = db.prepare<[string], Buffer | null>('SELECT inline FROM objects WHERE sha256 = ?').pluck()
  const latest = db.prepare<[number, string, string], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS} WHERE object = ? AND principal = ? AND name = ?
     ORDER BY sequence DESC LIMIT 1`,
  )
  const bySequence = db.prepare<[number], FileRow>(`SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS} WHERE sequence = ?`)
  // Every filter is optional: NULL lets all rows pass.
  const list = db.prepare<[Record<string, string | number | null>], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS}
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
    boundSha256: (key: string): string | undefined => content.boundSha256(key),

    serving({ sha256, now, principal }: { sha256: string; now: number; principal?: string }): ServingFile {
      const object = content.objectOfDigest(sha256)
      if (object === undefined) return { outcome: 'absent' }
      const row =
        earliestPublic.get(object, now) ??
        (principal === undefined ? undefined : earliestOwn.get(object, now, principal))
      if (row !== undefined) return { outcome: 'found', file: fileFromRow(row) }
      if (anyLive.get(object, now) !== undefined) return { outcome: 'private' }
      const ended = latestOf.get(object)
      return ended === undefined ? { outcome: 'absent' } : { outcome: 'gone', end: ended.end ?? 'expired' }
    },

    inlineBytes: (sha256: string): Uint8Array | undefined => inline.get(sha256) ?? undefined,

    latest({ principal, key }: { principal: string; key: string }): FileRecord | undefined {
      const object = content.objectOf(key)
      if (object === undefined) return undefined
      // A file that has not ended has an index of its own.
      const row = content.liveFile(principal, key) ?? latest.get(object, principal, opaqueNameOf(key))
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
