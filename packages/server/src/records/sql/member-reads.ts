import type { FileRecord, FolderMember, FoundMember, ObjectHandle } from '../record-store.ts'
import { type NamedObject, prepareContentReads } from './content-reads.ts'
import { FILE_COLUMNS, FILE_ROWS, type FileRow, fileFromRow } from './file-row.ts'
import { batchesOf, MANY } from './many.ts'
import { prepareNamedObjects } from './named-objects.ts'
import type { Sql, SqlValue, Steps } from './sql.ts'

/** An object that a folder may have, and who has it. */
export interface HeldObject {
  readonly id: number
  readonly handle: ObjectHandle
  readonly size_bytes: number
  readonly is_own: number
  readonly is_public: number
}

interface FindRequest {
  readonly principal: string
  readonly keys: readonly string[]
  readonly now: number
}

interface ProfileRow {
  readonly object: number
  readonly profile: string
  readonly root: Buffer
}

const NO_NUMBER = 0
const NO_TEXT = ''
const DIGEST_BYTES = 32

/**
 * The condition that a live folder has an object.
 *
 * @param object - the SQL of the object's number.
 * @param whose - a condition of the folder's file.
 */
export function isInFolder(object: string, whose: string): string {
  return `EXISTS (SELECT 1 FROM members JOIN files ON files.object = members.folder
    WHERE members.object = ${object} AND files.folder_files IS NOT NULL AND ended_at IS NULL AND expires_at > ? AND ${whose})`
}

/** What folders are made of. For reads and writes alike. */
export function prepareMemberReads(db: Sql) {
  const content = prepareContentReads(db)
  const { namedByEach } = prepareNamedObjects(db)
  const openFiles = `files ${db.dialect.indexedBy('files_live_by_object')}`
  const isHeld = (whose: string): string =>
    `EXISTS (SELECT 1 FROM ${openFiles} WHERE files.object = objects.id AND ended_at IS NULL AND expires_at > ? AND ${whose})
       OR ${isInFolder('objects.id', whose)}`
  const heldWhere = (condition: string) =>
    db.prepare<SqlValue[], HeldObject>(
      `SELECT id, sha256 AS handle, size_bytes,
         CASE WHEN ${isHeld('principal = ?')} THEN 1 ELSE 0 END AS is_own,
         CASE WHEN ${isHeld("visibility = 'public'")} THEN 1 ELSE 0 END AS is_public
       FROM objects WHERE ${condition} AND place <> 'none'`,
    )
  const heldByNumber = heldWhere(`id IN (${MANY})`)
  const heldByHandle = heldWhere(`sha256 IN (${MANY})`)
  const profiles = db.prepare<number[], ProfileRow>(
    `SELECT object, layout AS profile, substr(digests, length(digests) - ${DIGEST_BYTES - 1}) AS root FROM dags
     WHERE object IN (${MANY}) AND digests IS NOT NULL`,
  )
  const membersOf = db.prepare<[ObjectHandle], { object: ObjectHandle; uses: number; sizeBytes: number }>(
    `SELECT objects.sha256 AS object, uses, objects.size_bytes AS "sizeBytes"
     FROM objects AS folders JOIN members ON members.folder = folders.id JOIN objects ON objects.id = members.object
     WHERE folders.sha256 = ? ORDER BY objects.id`,
  )

  const uncounted = db.prepare<[number, number], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS} WHERE sequence > ? AND ended_at IS NULL AND folder_files IS NULL
       AND EXISTS (SELECT 1 FROM aliases WHERE aliases.object = files.object AND view = 'car')
     ORDER BY sequence LIMIT ?`,
  )

  function* profilesOf(objects: Iterable<number>): Steps<Map<string, string>> {
    const found = new Map<string, string>()
    for (const batch of batchesOf(objects, NO_NUMBER)) {
      for (const { object, profile, root } of yield* profiles.all(...batch)) {
        found.set(`${object} ${root.toString('hex')}`, profile)
      }
    }
    return found
  }

  return {
    /** Those of the objects that are stored, by their handle, with who has them now. */
    *heldByHandle(
      handles: Iterable<ObjectHandle>,
      principal: string,
      now: number,
    ): Steps<Map<ObjectHandle, HeldObject>> {
      const found = new Map<ObjectHandle, HeldObject>()
      for (const batch of batchesOf(handles, NO_TEXT)) {
        const rows = yield* heldByHandle.all(now, principal, now, principal, now, now, ...batch)
        for (const row of rows) found.set(row.handle, row)
      }
      return found
    },

    /** Needs one state of the records for all its statements. */
    *find({ principal, keys, now }: FindRequest): Steps<readonly FoundMember[]> {
      const named = yield* namedByEach([...new Set(keys)])
      const objects = new Set([...named.values()].flatMap((choices) => choices.map(({ object }) => object)))
      const held = new Map<number, HeldObject>()
      for (const batch of batchesOf(objects, NO_NUMBER)) {
        const rows = yield* heldByNumber.all(now, principal, now, principal, now, now, ...batch)
        for (const row of rows) held.set(row.id, row)
      }
      const isUsable = ({ object }: NamedObject): boolean => {
        const row = held.get(object)
        return row !== undefined && (row.is_own === 1 || row.is_public === 1)
      }
      const profileOf = yield* profilesOf(held.keys())
      return keys.map((key): FoundMember => {
        const choice = named.get(key)?.find(isUsable)
        const row = choice && held.get(choice.object)
        if (choice === undefined || row === undefined) return { outcome: 'missing' }
        return {
          outcome: 'found',
          object: row.handle,
          sizeBytes: row.size_bytes,
          view: choice.view,
          profile: profileOf.get(`${row.id} ${key.slice(key.indexOf(':') + 1)}`),
          isOwn: row.is_own === 1,
          isPublic: row.is_public === 1,
        }
      })
    },

    *uncounted({ after, limit }: { after: number; limit: number }): Steps<readonly FileRecord[]> {
      return (yield* uncounted.all(after, limit)).map(fileFromRow)
    },

    *membersOf(handle: ObjectHandle): Steps<readonly (FolderMember & { readonly sizeBytes: number })[]> {
      const object = yield* content.objectOfHandle(handle)
      return object === undefined ? [] : yield* membersOf.all(handle)
    },
  }
}
