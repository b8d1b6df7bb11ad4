import type {
  CountBackRequest,
  FileEnd,
  FileRecord,
  ListDealsRequest,
  ListFilesRequest,
  ObjectHandle,
  ObjectPiece,
  ServingFile,
} from '../record-store.ts'
import { type NamedObject, partsOf, prepareContentReads } from './content-reads.ts'
import { prepareEndedKeys } from './ended-keys.ts'
import { fileKindSql } from './file-kind.ts'
import { endOf, FILE_COLUMNS, FILE_ROWS, type FileRow, fileFromRow, opaqueNameOf } from './file-row.ts'
import { damagedRecords } from './seals.ts'
import { mapEach, type Sql, type Steps } from './sql.ts'

const SHA256 = 'sha256:'
const SHA2_256_HEX = '1220'
/** CARs that are looked at for one that the caller may see. */
const MAX_CARS = 16
const BINARY_MEDIA_TYPE = 'application/octet-stream'
const NO_FOLDER = { folder_files: null, folder_bytes: null, member_bytes: 0 }

const IS_LIVE = 'ended_at IS NULL AND expires_at > :now'

/** Point reads and listings of files. */
export function prepareFileReads(db: Sql) {
  const content = prepareContentReads(db)
  const { endOfKey } = prepareEndedKeys(db)
  const { ownFiles } = db.dialect
  /** Files that have not been ended, by an index of those alone: who has millions has ended more. */
  const openFiles = (index: string): string =>
    `files ${db.dialect.indexedBy(index)} JOIN objects ON objects.id = files.object`
  const openOfObject = openFiles('files_live_by_object')
  const earliestPublicOfDigest = db.prepare<[string, number], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${openOfObject}
     WHERE objects.sha256 = ? AND ended_at IS NULL AND expires_at > ? AND visibility = 'public'
     ORDER BY sponsored, sequence LIMIT 1`,
  )
  const publicUntil = db
    .prepare<[ObjectHandle, number], number>(
      `SELECT expires_at FROM ${openOfObject}
       WHERE objects.sha256 = ? AND ended_at IS NULL AND expires_at > ? AND visibility = 'public'
       ORDER BY sponsored, sequence LIMIT 1`,
    )
    .pluck()
  const earliestPublic = db.prepare<[number, number], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${openOfObject} WHERE object = ? AND ended_at IS NULL AND expires_at > ? AND visibility = 'public'
     ORDER BY sponsored, sequence LIMIT 1`,
  )
  const earliestOwn = db.prepare<[number, number, string], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS} WHERE object = ? AND ended_at IS NULL AND expires_at > ? AND principal = ?
     ORDER BY sequence LIMIT 1`,
  )
  /** The live folders that have an object, as files: the principal's own first, then what everybody is served. */
  const folderOf = db.prepare<[string, number, number, string], FileRow>(
    `SELECT ${FILE_COLUMNS}, CASE WHEN principal = ? THEN 0 ELSE 1 END AS is_others
     FROM members JOIN files ON files.object = members.folder JOIN objects ON objects.id = files.object
     WHERE members.object = ? AND folder_files IS NOT NULL AND ended_at IS NULL AND expires_at > ?
       AND (visibility = 'public' OR principal = ?)
     ORDER BY is_others, sponsored, sequence LIMIT 1`,
  )
  const publicFolderUntil = db
    .prepare<[ObjectHandle, number], number>(
      `SELECT expires_at FROM objects JOIN members ON members.object = objects.id JOIN files ON files.object = members.folder
       WHERE objects.sha256 = ? AND folder_files IS NOT NULL AND ended_at IS NULL AND expires_at > ? AND visibility = 'public'
       ORDER BY sponsored, sequence LIMIT 1`,
    )
    .pluck()
  const carsOf = db
    .prepare<[Uint8Array], number>(
      `SELECT dags.object FROM blocks JOIN dags ON dags.id = blocks.dag
       WHERE multihash = ? AND layout = 'car' AND dags.object IS NOT NULL ORDER BY dag LIMIT ${MAX_CARS}`,
    )
    .pluck()
  const bytesOf = db.prepare<[number], Pick<FileRow, 'handle' | 'size_bytes' | 'piece_root'>>(
    'SELECT sha256 AS handle, size_bytes, piece_root FROM objects WHERE id = ?',
  )
  const latestKnown = db.prepare<[number, string], Pick<FileRow, 'sequence' | 'end' | 'composed_into'>>(
    `SELECT sequence, "end", composed_into FROM files WHERE object = ? AND (visibility = 'public' OR principal = ?)
     ORDER BY sequence DESC LIMIT 1`,
  )
  const inline = db
    .prepare<[ObjectHandle], Buffer | null>('SELECT coalesce(inline, inline_v1) FROM objects WHERE sha256 = ?')
    .pluck()
  const latest = db.prepare<[number, string, string], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS} WHERE object = ? AND principal = ? AND name = ?
     ORDER BY sequence DESC LIMIT 1`,
  )
  const bySequence = db.prepare<[number], FileRow>(`SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS} WHERE sequence = ?`)
  /** Live files by the status of their deals; one that nobody has begun to place is staged. */
  const hasStatus = `(${db.dialect.whole(':expiring')} IS NULL OR :expiring = CASE
           WHEN expires_at - ${db.dialect.least('3.0', 'term_days / 10.0')} * 86400000 <= :now THEN 1 ELSE 0 END)
         AND (CAST(:status AS TEXT) IS NULL OR (ended_at IS NULL AND expires_at > :now
           AND :status = coalesce((SELECT status FROM deals WHERE deals.file = files.sequence), 'staged')))`
  // Every filter is optional: NULL lets all rows pass. Where a placeholder stands first, its type has to be said.
  const listFrom = (rows: string, ended: string) =>
    db.prepare<[Record<string, string | number | null>], FileRow>(
      `SELECT ${FILE_COLUMNS} FROM ${rows}
       WHERE principal = :principal AND sequence < :before AND sequence >= :from AND ${ended}
         AND (CAST(:search AS TEXT) IS NULL OR ${db.dialect.includesFolded("coalesce(filename, '')", ':search')}
           OR ${db.dialect.includesFolded('cid', ':search')})
         AND (CAST(:contentType AS TEXT) IS NULL OR lower(content_type) = :contentType
           OR lower(content_type) LIKE :contentTypePrefix ESCAPE '\\')
         AND (CAST(:kind AS TEXT) IS NULL OR :kind = ${fileKindSql('content_type', db.dialect)})
         AND (${db.dialect.whole(':endsUntil')} IS NULL OR (${IS_LIVE} AND expires_at <= :endsUntil))
         AND ${hasStatus}
       ORDER BY sequence DESC LIMIT :limit`,
    )
  const listLive = listFrom(openFiles('files_live_by_principal'), IS_LIVE)
  const listEnded = listFrom(
    FILE_ROWS,
    `CASE CAST(:ended AS TEXT)
       WHEN 'removed' THEN "end" = 'removed' AND composed_into IS NULL
       WHEN 'composed' THEN composed_into IS NOT NULL
       WHEN 'expired' THEN "end" = 'expired' OR (ended_at IS NULL AND expires_at <= :now)
       ELSE TRUE END`,
  )
  const countBackFrom = (files: string, isCounted: string) =>
    db
      .prepare<{ principal: string; before: number; from: number; skip: number }, number>(
        `SELECT sequence FROM ${files} WHERE ${ownFiles.condition} AND ${isCounted}
         ORDER BY ${ownFiles.newestFirst} LIMIT 1 OFFSET :skip`,
      )
      .pluck()
  const countBackAll = countBackFrom('files', 'TRUE')
  const countBackOpen = countBackFrom(`files ${db.dialect.indexedBy('files_live_by_principal')}`, 'ended_at IS NULL')

  const latestOfDeal = db.prepare<[{ dealId: string; principal: string }], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS}
     WHERE ${isOfDeal(':dealId')} AND ${unindexed('principal')} = :principal ORDER BY sequence DESC LIMIT 1`,
  )
  // In older versions, a file that came again after its end had the deal id that it had before.
  const listDealsFrom = (rows: string, ended: string) =>
    db.prepare<[Record<string, string | number | null>], FileRow>(
      `SELECT ${FILE_COLUMNS} FROM ${rows}
       WHERE principal = :principal AND sequence < :before AND sequence >= :from AND composed_into IS NULL AND ${ended}
         AND ${hasStatus}
         AND NOT EXISTS (
           SELECT 1 FROM files AS later
           WHERE ${isOfDeal('files.deal_id', 'later.')} AND ${unindexed('later.principal')} = files.principal
             AND later.sequence > files.sequence)
       ORDER BY sequence DESC LIMIT :limit`,
    )
  const listLiveDeals = listDealsFrom(openFiles('files_live_by_principal'), IS_LIVE)
  const listEndedDeals = listDealsFrom(
    FILE_ROWS,
    `CASE CAST(:ended AS TEXT)
       WHEN 'removed' THEN "end" = 'removed'
       WHEN 'expired' THEN "end" = 'expired' OR (ended_at IS NULL AND expires_at <= :now)
       ELSE TRUE END`,
  )
  const newest = db.prepare<[], { sequence: number; uploadedAt: number }>(
    'SELECT sequence, uploaded_at AS "uploadedAt" FROM files WHERE sequence = (SELECT MAX(sequence) FROM files)',
  )

  function* countBack({ principal, beforeSequence, count, isOpen }: CountBackRequest): Steps<number | undefined> {
    const before = beforeSequence ?? Number.MAX_SAFE_INTEGER
    return yield* (isOpen ? countBackOpen : countBackAll).get({ principal, before, from: 0, skip: count - 1 })
  }

  /**
   * The bound of a page right behind its newest file. An engine that knows whose most files are may look for these from the newest file
   * of all on, and would pass those that others have staged since.
   */
  function* boundOf(request: Omit<CountBackRequest, 'count'>): Steps<number> {
    const newest = yield* countBack({ ...request, count: 1 })
    return newest === undefined ? 0 : newest + 1
  }

  /** Owners see their own type and name. */
  function* visibleTo(object: number, now: number, principal: string | undefined): Steps<FileRow | undefined> {
    const own = principal === undefined ? undefined : yield* earliestOwn.get(object, now, principal)
    return own ?? (yield* earliestPublic.get(object, now)) ?? (yield* inFolder(object, now, principal))
  }

  /** A file of a folder, as long as the folder: its name is the folder's affair. */
  function* inFolder(object: number, now: number, principal = ''): Steps<FileRow | undefined> {
    const folder = yield* folderOf.get(principal, object, now, principal)
    const bytes = folder && (yield* bytesOf.get(object))
    if (folder === undefined || bytes === undefined) return undefined
    return { ...folder, ...bytes, object, content_type: BINARY_MEDIA_TYPE, filename: null, ...NO_FOLDER }
  }

  /** The file of the first object under this key that the caller may see. */
  function* findVisible(
    key: string,
    now: number,
    principal: string | undefined,
  ): Steps<(NamedObject & { row: FileRow }) | undefined> {
    for (const named of yield* content.objectsNamedBy(key)) {
      const row = yield* visibleTo(named.object, now, principal)
      if (row !== undefined) return { ...named, row }
    }
    return undefined
  }

  /** A CAR with the block of this digest, below its root or beside it: the key names the DAG of that block. */
  function* findInside(
    key: string,
    now: number,
    principal: string | undefined,
  ): Steps<{ readonly view: 'inside'; readonly row: FileRow } | undefined> {
    const [kind, digest] = partsOf(key)
    if (kind !== 'sha256' && kind !== 'dag-pb') return undefined
    for (const object of yield* carsOf.all(Buffer.from(`${SHA2_256_HEX}${digest}`, 'hex'))) {
      const row = yield* visibleTo(object, now, principal)
      if (row !== undefined) return { view: 'inside', row: { ...row, filename: null } }
    }
    return undefined
  }

  /** Why nothing under this key is visible. Private files of others are as if they had never been. */
  function* explain(key: string, principal = ''): Steps<ServingFile> {
    if (yield* content.isDamagedName(key)) throw damagedRecords(`${key} leads to other bytes`)
    let newest: { readonly sequence: number; readonly end: FileEnd | null } | undefined
    for (const { object } of yield* content.objectsEverNamedBy(key)) {
      const row = yield* latestKnown.get(object, principal)
      if (row !== undefined && row.sequence > (newest?.sequence ?? 0)) {
        newest = { sequence: row.sequence, end: endOf(row) }
      }
    }
    // A file whose term is over may not have been ended yet.
    if (newest !== undefined) return { outcome: 'gone', end: newest.end ?? 'expired' }
    const end = yield* endOfKey(key, principal)
    return end === undefined ? { outcome: 'absent' } : { outcome: 'gone', end }
  }

  return {
    /**
     * What is asked for most, in two statements that need not see one state of the records; undefined when they cannot tell,
     * and `serving` has to.
     */
    *servingAtOnce(request: { key: string; now: number; principal?: string }): Steps<ServingFile | undefined> {
      const { key, now, principal } = request
      if (!key.startsWith(SHA256) || principal !== undefined) return undefined
      const row = yield* earliestPublicOfDigest.get(key.slice(SHA256.length), now)
      if (row === undefined || (yield* content.hasOlderCar(key, row.object))) return undefined
      return { outcome: 'found', file: fileFromRow(row), view: 'bytes' }
    },

    /** Needs one state of the records for all its statements. */
    *serving({ key, now, principal }: { key: string; now: number; principal?: string }): Steps<ServingFile> {
      const found = (yield* findVisible(key, now, principal)) ?? (yield* findInside(key, now, principal))
      return found === undefined
        ? yield* explain(key, principal)
        : { outcome: 'found', file: fileFromRow(found.row), view: found.view }
    },

    /** Needs one state of the records for all its statements. */
    *pieces(request: { keys: readonly string[]; now: number; principal?: string }): Steps<(ObjectPiece | undefined)[]> {
      const { keys, now, principal } = request
      return yield* mapEach(keys, function* (key) {
        const found = yield* findVisible(key, now, principal)
        return found === undefined ? undefined : pieceOf(fileFromRow(found.row))
      })
    },

    *publicUntil({ object, now }: { object: ObjectHandle; now: number }): Steps<number | undefined> {
      return (yield* publicUntil.get(object, now)) ?? (yield* publicFolderUntil.get(object, now))
    },

    *inlineBytes(object: ObjectHandle): Steps<Uint8Array | undefined> {
      return (yield* inline.get(object)) ?? undefined
    },

    /** Needs one state of the records for all its statements. */
    *latest({ principal, key, now }: { principal: string; key: string; now: number }): Steps<FileRecord | undefined> {
      // A file that has not ended has an index of its own.
      const live = yield* content.liveFile(principal, key, now)
      if (live !== undefined) return fileFromRow(live)
      let found: FileRow | undefined
      for (const { object } of yield* content.objectsEverNamedBy(key)) {
        const row = yield* latest.get(object, principal, opaqueNameOf(key))
        if (row !== undefined && row.sequence > (found?.sequence ?? 0)) found = row
      }
      return found === undefined ? undefined : fileFromRow(found)
    },

    *bySequence(sequence: number): Steps<FileRecord | undefined> {
      const row = yield* bySequence.get(sequence)
      return row === undefined ? undefined : fileFromRow(row)
    },

    newest: (): Steps<{ sequence: number; uploadedAt: number } | undefined> => newest.get(),

    *list(request: ListFilesRequest): Steps<readonly FileRecord[]> {
      // SQLite ends a text at its NUL here, and would find what has only the beginning.
      if (request.search?.includes('\0') || request.contentType?.includes('\0')) return []
      const contentType = request.contentType === undefined ? undefined : foldCase(request.contentType)
      const isOpen = request.ended === 'live'
      const before = yield* boundOf({ ...request, isOpen })
      const list = isOpen ? listLive : listEnded
      const { status, isExpiring } = request
      const rows = yield* list.all({
        principal: request.principal,
        before,
        from: request.fromSequence ?? 0,
        search: request.search ?? null,
        contentType: contentType ?? null,
        contentTypePrefix: contentType === undefined ? null : `${contentType.replace(/[\\%_]/g, '\\$&')};%`,
        kind: request.kind ?? null,
        endsUntil: request.endsUntil ?? null,
        ended: request.ended ?? null,
        status: status ?? null,
        expiring: isExpiring === undefined ? null : Number(isExpiring),
        now: request.now,
        limit: request.limit,
      })
      return rows.map(fileFromRow)
    },

    countBack,

    *listDeals(request: ListDealsRequest): Steps<readonly FileRecord[]> {
      const { principal, now, limit, fromSequence, ended, status, isExpiring } = request
      const isOpen = ended === 'live' || status !== undefined
      const listDeals = isOpen ? listLiveDeals : listEndedDeals
      const asked = {
        before: yield* boundOf({ ...request, isOpen }),
        from: fromSequence ?? 0,
        ended: ended ?? null,
        status: status ?? null,
        expiring: isExpiring === undefined ? null : Number(isExpiring),
      }
      return (yield* listDeals.all({ ...asked, principal, now, limit })).map(fileFromRow)
    },

    *byDeal(request: { principal: string; dealId: string }): Steps<FileRecord | undefined> {
      const row = yield* latestOfDeal.get(request)
      return row === undefined || row.composed_into !== null ? undefined : fileFromRow(row)
    },
  }
}

/** The condition that a file has a deal, so that it uses the index of heads. */
function isOfDeal(dealId: string, files = ''): string {
  return `${files}deal_id = ${dealId} AND substr(${files}deal_id, 1, 12) = substr(${dealId}, 1, 12)`
}

/** A column of texts, so that no index of it is used: that of the deal finds fewer files than that of the principal. */
function unindexed(column: string): string {
  return `${column} || ''`
}

/** The letters of ASCII in lower case, as engines fold the columns; no engine is asked, since some fold other letters as well. */
function foldCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

function pieceOf({ object, sizeBytes, pieceRoot }: FileRecord): ObjectPiece | undefined {
  return pieceRoot === null ? undefined : { object, sizeBytes, pieceRoot }
}
