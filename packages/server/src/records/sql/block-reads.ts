import { keyOfMultihash } from '../multihash.ts'
import type { BlockPlace, FindBlockRequest, ObjectHandle } from '../record-store.ts'
import { prepareContentReads } from './content-reads.ts'
import { isInFolder } from './member-reads.ts'
import type { Sql, Steps } from './sql.ts'
import { IS_TAKEN_DOWN } from './takedown-reads.ts'

const DIGEST_BYTES = 32

interface BlockRow {
  readonly dag: number
  readonly layout: string
  readonly node: number
  readonly offset_bytes: number | null
  readonly length_bytes: number | null
  readonly handle: ObjectHandle
  readonly size_bytes: number
}

/** Reads of the blocks that lie in objects. */
export function prepareBlockReads(db: Sql) {
  const content = prepareContentReads(db)
  const openFiles = `files ${db.dialect.indexedBy('files_live_by_object')}`
  const isPublic = `(EXISTS (
       SELECT 1 FROM ${openFiles} WHERE files.object = objects.id AND ended_at IS NULL AND expires_at > ? AND visibility = 'public')
     OR ${isInFolder('objects.id', "visibility = 'public'")})`
  const publicObject = db.prepare<[number, number, number], Pick<BlockRow, 'handle' | 'size_bytes'>>(
    `SELECT sha256 AS handle, size_bytes FROM objects WHERE id = ? AND NOT ${IS_TAKEN_DOWN} AND ${isPublic}`,
  )
  const publicBlock = db.prepare<[Uint8Array, number, number], BlockRow>(
    `SELECT dag, layout, node, offset_bytes, length_bytes, sha256 AS handle, size_bytes
     FROM blocks JOIN dags ON dags.id = blocks.dag JOIN objects ON objects.id = dags.object
     WHERE multihash = ? AND NOT ${IS_TAKEN_DOWN} AND ${isPublic}
     ORDER BY dag LIMIT 1`,
  )
  const ownBlock = db.prepare<[ObjectHandle, Uint8Array], BlockRow>(
    `SELECT dag, layout, node, offset_bytes, length_bytes, sha256 AS handle, size_bytes
     FROM objects JOIN dags ON dags.object = objects.id JOIN blocks ON blocks.dag = dags.id
     WHERE sha256 = ? AND multihash = ? ORDER BY dag LIMIT 1`,
  )
  /** In the members of a folder. */
  const memberBlock = db.prepare<[ObjectHandle, Uint8Array], BlockRow>(
    `SELECT dag, layout, node, offset_bytes, length_bytes, objects.sha256 AS handle, objects.size_bytes
     FROM blocks JOIN dags ON dags.id = blocks.dag JOIN objects ON objects.id = dags.object
       JOIN members ON members.object = objects.id JOIN objects AS folders ON folders.id = members.folder
     WHERE folders.sha256 = ? AND multihash = ? ORDER BY dag LIMIT 1`,
  )
  const memberSize = db
    .prepare<[ObjectHandle, ObjectHandle], number>(
      `SELECT objects.size_bytes FROM objects JOIN members ON members.object = objects.id
         JOIN objects AS folders ON folders.id = members.folder
       WHERE objects.sha256 = ? AND folders.sha256 = ? AND objects.place <> 'none'`,
    )
    .pluck()
  const keptSize = db
    .prepare<[ObjectHandle], number>("SELECT size_bytes FROM objects WHERE sha256 = ? AND place <> 'none'")
    .pluck()
  // SQL counts bytes from 1.
  const digests = db
    .prepare<[number, number, number], Buffer | null>('SELECT substr(digests, 1 + ?, ?) FROM dags WHERE id = ?')
    .pluck()

  function* wholeObject(multihash: Uint8Array, now: number): Steps<BlockPlace | undefined> {
    const key = keyOfMultihash(multihash)
    if (key === undefined) return undefined
    for (const { object, view } of yield* content.objectsNamedBy(key)) {
      const row = view === 'bytes' ? yield* publicObject.get(object, now, now) : undefined
      if (row !== undefined) return { kind: 'object', object: row.handle, sizeBytes: row.size_bytes }
    }
    return undefined
  }

  function* findWithin(
    object: ObjectHandle,
    multihash: Uint8Array,
    hasMembers: boolean,
  ): Steps<BlockPlace | undefined> {
    const sizeBytes = keyOfMultihash(multihash) === `sha256:${object}` ? yield* keptSize.get(object) : undefined
    if (sizeBytes !== undefined) return { kind: 'object', object, sizeBytes }
    const own = yield* ownBlock.get(object, multihash)
    if (own !== undefined || !hasMembers) return own && placeOf(own)
    return yield* findInMembers(object, multihash)
  }

  function* findInMembers(folder: ObjectHandle, multihash: Uint8Array): Steps<BlockPlace | undefined> {
    const row = yield* memberBlock.get(folder, multihash)
    if (row !== undefined) return placeOf(row)
    const key = keyOfMultihash(multihash)
    const digest = key?.startsWith('sha256:') ? key.slice('sha256:'.length) : undefined
    const memberBytes = digest === undefined ? undefined : yield* memberSize.get(digest, folder)
    return digest === undefined || memberBytes === undefined
      ? undefined
      : { kind: 'object', object: digest, sizeBytes: memberBytes }
  }

  return {
    /** Needs one state of the records for all its statements. */
    *find(request: FindBlockRequest): Steps<BlockPlace | undefined> {
      const { multihash, now, within, hasMembers = false } = request
      if (within !== undefined) return yield* findWithin(within, multihash, hasMembers)
      const object = yield* wholeObject(multihash, now)
      if (object !== undefined) return object
      const row = yield* publicBlock.get(multihash, now, now)
      return row === undefined ? undefined : placeOf(row)
    },

    *digests({ dag, from, count }: { dag: number; from: number; count: number }): Steps<Uint8Array | undefined> {
      return (yield* digests.get(from * DIGEST_BYTES, count * DIGEST_BYTES, dag)) ?? undefined
    },
  }
}

function placeOf({ dag, layout, node, handle: object, size_bytes: sizeBytes, ...slice }: BlockRow): BlockPlace {
  const { offset_bytes: offsetBytes, length_bytes: lengthBytes } = slice
  return offsetBytes === null || lengthBytes === null
    ? { kind: 'node', dag, profile: layout, node, object, sizeBytes }
    : { kind: 'slice', object, sizeBytes, offsetBytes, lengthBytes }
}
