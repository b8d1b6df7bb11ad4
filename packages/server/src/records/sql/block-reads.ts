import { keyOfMultihash } from '../multihash.ts'
import type { BlockPlace, ObjectHandle } from '../record-store.ts'
import { prepareContentReads } from './content-reads.ts'
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
  const publicObject = db.prepare<[number, number], Pick<BlockRow, 'handle' | 'size_bytes'>>(
    `SELECT sha256 AS handle, size_bytes FROM objects WHERE id = ? AND NOT ${IS_TAKEN_DOWN} AND EXISTS (
       SELECT 1 FROM ${openFiles} WHERE files.object = objects.id AND ended_at IS NULL AND expires_at > ? AND visibility = 'public')`,
  )
  const publicBlock = db.prepare<[Uint8Array, number], BlockRow>(
    `SELECT dag, layout, node, offset_bytes, length_bytes, sha256 AS handle, size_bytes
     FROM blocks JOIN dags ON dags.id = blocks.dag JOIN objects ON objects.id = dags.object
     WHERE multihash = ? AND NOT ${IS_TAKEN_DOWN} AND EXISTS (
       SELECT 1 FROM ${openFiles} WHERE files.object = objects.id AND ended_at IS NULL AND expires_at > ? AND visibility = 'public')
     ORDER BY dag LIMIT 1`,
  )
  const ownBlock = db.prepare<[ObjectHandle, Uint8Array], BlockRow>(
    `SELECT dag, layout, node, offset_bytes, length_bytes, sha256 AS handle, size_bytes
     FROM objects JOIN dags ON dags.object = objects.id JOIN blocks ON blocks.dag = dags.id
     WHERE sha256 = ? AND multihash = ? ORDER BY dag LIMIT 1`,
  )
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
      const row = view === 'bytes' ? yield* publicObject.get(object, now) : undefined
      if (row !== undefined) return { kind: 'object', object: row.handle, sizeBytes: row.size_bytes }
    }
    return undefined
  }

  function* findWithin(object: ObjectHandle, multihash: Uint8Array): Steps<BlockPlace | undefined> {
    const sizeBytes = keyOfMultihash(multihash) === `sha256:${object}` ? yield* keptSize.get(object) : undefined
    if (sizeBytes !== undefined) return { kind: 'object', object, sizeBytes }
    const row = yield* ownBlock.get(object, multihash)
    return row === undefined ? undefined : placeOf(row)
  }

  return {
    /** Needs one state of the records for all its statements. */
    *find(request: { multihash: Uint8Array; now: number; within?: ObjectHandle }): Steps<BlockPlace | undefined> {
      const { multihash, now, within } = request
      if (within !== undefined) return yield* findWithin(within, multihash)
      const object = yield* wholeObject(multihash, now)
      if (object !== undefined) return object
      const row = yield* publicBlock.get(multihash, now)
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
