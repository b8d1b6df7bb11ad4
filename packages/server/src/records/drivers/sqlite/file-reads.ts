import type {
  FileEnd,
  FileRecord,
  ListDealsRequest,
  ListFilesRequest,
  ObjectHandle,
  ObjectPiece,
  ServingFile,
} from '../../record-store.ts'
import type { Connection } from './connection.ts'
import { type NamedObject, prepareContentReads } from './content-reads.ts'
import { endOf, FILE_COLUMNS, FILE_ROWS, type FileRow, fileFromRow, opaqueNameOf } from './file-row.ts'

const SHA256 = 'sha256:'

/** Point reads and listings of files. */
export function prepareFileReads(db: Connection) {
  const content = prepareContentReads(db)
  const earliestPublicOfDigest = db.prepare<[string, number], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS}
     WHERE objects.sha256 = ? AND ended_at IS NULL AND expires_at > ? AND visibility = 'public'
     ORDER BY sequence LIMIT 1`,
  )
  const earliestPublic = db.prepare<[number, number], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS} WHERE object = ? AND ended_at IS NULL AND expires_at > ? AND visibility = 'public'
     ORDER BY sequence LIMIT 1`,
  )
  const earliestOwn = db.prepare<[number, number, string], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS} WHERE object = ? AND ended_at IS NULL AND expires_at > ? AND principal = ?
     ORDER BY sequence LIMIT 1`,
  )
  const latestOf = db.prepare<[number], Pick<FileRow, 'sequence' | 'end' | 'composed_into'>>(
    'SELECT sequence, end, composed_into FROM files WHERE object = ? ORDER BY sequence DESC LIMIT 1',
  )
  const anyLive = db
    .prepare<[number, number], number>(
      'SELECT 1 FROM files WHERE object = ? AND ended_at IS NULL AND expires_at > ? LIMIT 1',
    )
    .pluck()
  const inline = db
    .prepare<[ObjectHandle], Buffer | null>('SELECT coalesce(inline, inline_v1) FROM objects WHERE sha256 = ?')
    .pluck()
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
         WHEN 'removed' THEN end = 'removed' AND composed_into IS NULL
         WHEN 'composed' THEN composed_into IS NOT NULL
         WHEN 'expired' THEN end = 'expired' OR (ended_at IS NULL AND expires_at <= :now)
         ELSE 1 END
     ORDER BY sequence DESC LIMIT :limit`,
  )

  const latestOfDeal = db.prepare<[{ dealId: string; principal: string }], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS}
     WHERE ${isOfDeal(':dealId')} AND +principal = :principal ORDER BY sequence DESC LIMIT 1`,
  )
  const listDeals = db.prepare<[Record<string, string | number | null>], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS}
     WHERE principal = :principal AND composed_into IS NULL
       AND (:before IS NULL OR sequence < :before)
       AND CASE :ended
         WHEN 'live' THEN ended_at IS NULL AND expires_at > :now
         WHEN 'removed' THEN end = 'removed'
         WHEN 'expired' THEN end = 'expired' OR (ended_at IS NULL AND expires_at <= :now)
         ELSE 1 END
       AND (:expiring IS NULL OR :expiring = (expires_at - min(3.0, term_days / 10.0) * 86400000 <= :now))
       AND (:status IS NULL OR (ended_at IS NULL AND expires_at > :now
         AND :status = coalesce((SELECT status FROM deals WHERE deals.file = files.sequence), 'staged')))
       AND NOT EXISTS (
         SELECT 1 FROM files AS later
         WHERE ${isOfDeal('files.deal_id', 'later.')} AND +later.principal = files.principal
           AND later.sequence > files.sequence)
     ORDER BY sequence DESC LIMIT :limit`,
  )

  function visibleTo(object: number, now: number, principal: string | undefined): FileRow | undefined {
    const row = earliestPublic.get(object, now)
    return row ?? (principal === undefined ? undefined : earliestOwn.get(object, now, principal))
  }

  /** The file of the first object under this key that the caller may see. */
  function findVisible(
    key: string,
    now: number,
    principal: string | undefined,
  ): (NamedObject & { row: FileRow }) | undefined {
    for (const named of content.objectsNamedBy(key)) {
      const row = visibleTo(named.object, now, principal)
      if (row !== undefined) return { ...named, row }
    }
    return undefined
  }

  /** Why nothing under this key is visible. */
  function explain(key: string, now: number): ServingFile {
    for (const { object } of content.objectsNamedBy(key)) {
      if (anyLive.get(object, now) !== undefined) return { outcome: 'private' }
    }
    let newest: { readonly sequence: number; readonly end: FileEnd | null } | undefined
    for (const { object } of content.objectsEverNamedBy(key)) {
      const row = latestOf.get(object)
      if (row !== undefined && row.sequence > (newest?.sequence ?? 0)) {
        newest = { sequence: row.sequence, end: endOf(row) }
      }
    }
    // A file whose term is over may not have been ended yet.
    return newest === undefined ? { outcome: 'absent' } : { outcome: 'gone', end: newest.end ?? 'expired' }
  }

  // Several statements see one state of the records, whatever is committed between them.
  const search = db.transaction((key: string, now: number, principal: string | undefined): ServingFile => {
    const found = findVisible(key, now, principal)
    return found === undefined
      ? explain(key, now)
      : { outcome: 'found', file: fileFromRow(found.row), view: found.view }
  })
  const searchPieces = db.transaction(
    (keys: readonly string[], now: number, principal: string | undefined): (ObjectPiece | undefined)[] =>
      keys.map((key) => {
        const found = findVisible(key, now, principal)
        return found === undefined ? undefined : pieceOf(fileFromRow(found.row))
      }),
  )
  const searchOwn = db.transaction((principal: string, key: string, now: number): FileRow | undefined => {
    // A file that has not ended has an index of its own.
    const live = content.liveFile(principal, key, now)
    if (live !== undefined) return live
    let found: FileRow | undefined
    for (const { object } of content.objectsEverNamedBy(key)) {
      const row = latest.get(object, principal, opaqueNameOf(key))
      if (row !== undefined && row.sequence > (found?.sequence ?? 0)) found = row
    }
    return found
  })

  return {
    serving({ key, now, principal }: { key: string; now: number; principal?: string }): ServingFile {
      // What is asked for most takes two statements.
      const row = key.startsWith(SHA256) ? earliestPublicOfDigest.get(key.slice(SHA256.length), now) : undefined
      return row === undefined || content.hasOlderCar(key, row.object)
        ? search(key, now, principal)
        : { outcome: 'found', file: fileFromRow(row), view: 'bytes' }
    },

    pieces(request: { keys: readonly string[]; now: number; principal?: string }): (ObjectPiece | undefined)[] {
      return searchPieces(request.keys, request.now, request.principal)
    },

    inlineBytes: (object: ObjectHandle): Uint8Array | undefined => inline.get(object) ?? undefined,

    latest({ principal, key, now }: { principal: string; key: string; now: number }): FileRecord | undefined {
      const row = searchOwn(principal, key, now)
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

    listDeals(request: ListDealsRequest): readonly FileRecord[] {
      const { principal, now, limit, beforeSequence, ended, status, isExpiring } = request
      const asked = {
        before: beforeSequence ?? null,
        ended: ended ?? null,
        status: status ?? null,
        expiring: isExpiring === undefined ? null : Number(isExpiring),
      }
      return listDeals.all({ ...asked, principal, now, limit }).map(fileFromRow)
    },

    byDeal(request: { principal: string; dealId: string }): FileRecord | undefined {
      const row = latestOfDeal.get(request)
      return row === undefined || row.composed_into !== null ? undefined : fileFromRow(row)
    },
  }
}

/** The condition that a file has a deal, so that it uses the index of heads. */
function isOfDeal(dealId: string, files = ''): string {
  return `substr(${files}deal_id, 1, 12) = substr(${dealId}, 1, 12) AND ${files}deal_id = ${dealId}`
}

function pieceOf({ object, sizeBytes, pieceRoot }: FileRecord): ObjectPiece | undefined {
  return pieceRoot === null ? undefined : { object, sizeBytes, pieceRoot }
}
