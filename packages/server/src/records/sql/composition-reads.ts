import type { FoundPart, ImportCommit, KeptFacts, ObjectHandle, ObjectPart } from '../record-store.ts'
import { type NamedObject, prepareContentReads } from './content-reads.ts'
import { FILE_COLUMNS, FILE_ROWS, type FileRow, fileFromRow, opaqueNameOf } from './file-row.ts'
import { batchesOf, MANY, manyTimes } from './many.ts'
import { prepareNamedObjects } from './named-objects.ts'
import { damagedRecords, isIntact, partName, type SealedBytes, type SealedRow } from './seals.ts'
import type { Sql, SqlValue, Steps } from './sql.ts'

interface FindRequest {
  readonly principal: string
  readonly keys: readonly string[]
  readonly now: number
}

/** How an object is a part of another one. */
export const PART_ROLE = 'part'

interface PartRow extends SealedRow {
  readonly object: ObjectHandle
  readonly position: number
}

interface FactsRow {
  readonly sequence: number
  readonly object: number
  readonly piece_subtrees: Buffer | null
}

type ImportRow = Omit<ImportCommit, 'kind'> & { readonly object: number }

type NamedByEach = ReadonlyMap<string, readonly NamedObject[]>

const NO_NUMBER = 0
const NO_FILE = [0, ''] as const

/** Reads of what files can be composed of, and of what they were. */
export function prepareCompositionReads(db: Sql) {
  const content = prepareContentReads(db)
  const { namedByEach } = prepareNamedObjects(db)
  const subtreeRoots = db.prepare<number[], FactsRow>(
    `SELECT sequence, object, piece_subtrees FROM files JOIN objects ON objects.id = object WHERE sequence IN (${MANY})`,
  )
  const imports = db.prepare<number[], ImportRow>(
    `SELECT object, layout AS profile, digests FROM dags WHERE object IN (${MANY}) AND layout <> 'car'`,
  )
  const openFiles = db.prepare<SqlValue[], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS} WHERE principal = ? AND ended_at IS NULL
       AND (files.object, files.name) IN (VALUES ${manyTimes(`(${db.dialect.whole('?')}, ?)`)})`,
  )
  // The first of its public files is enough, of which some objects have many.
  const anyPublic = db
    .prepare<number[], number>(
      `SELECT id FROM objects WHERE id IN (${MANY}) AND EXISTS (
         SELECT 1 FROM files ${db.dialect.indexedBy('files_live_by_object')}
         WHERE files.object = objects.id AND ended_at IS NULL AND expires_at > ? AND visibility = 'public')`,
    )
    .pluck()
  const bytesOf = db.prepare<[number], SealedBytes>('SELECT piece_root, size_bytes FROM objects WHERE id = ?')
  const partRows = db.prepare<[number], PartRow>(
    `SELECT objects.sha256 AS object, size_bytes, piece_root, position, seal FROM parts JOIN objects ON objects.id = parts.part
     WHERE whole = ? ORDER BY position`,
  )

  function* partsOf(whole: number): Steps<ObjectPart[]> {
    const rows = yield* partRows.all(whole)
    const bytes = rows.length === 0 ? undefined : yield* bytesOf.get(whole)
    if (bytes === undefined) return []
    for (const row of rows) {
      if (!isIntact(partName(bytes, row.position), PART_ROLE, row)) {
        throw damagedRecords(`part ${row.position} of the object ${whole} is another one`)
      }
    }
    return rows.map(({ object, size_bytes: sizeBytes }) => ({ object, sizeBytes }))
  }

  /** The principal's live files of these objects, each under the name that its key has: by object and name. */
  function* ownFiles(principal: string, named: NamedByEach, now: number): Steps<Map<string, FileRow>> {
    const asked = new Map<string, readonly [object: number, name: string]>()
    for (const [key, objects] of named) {
      const name = opaqueNameOf(key)
      for (const { object } of objects) asked.set(placeOf(object, name), [object, name])
    }
    const rows = new Map<string, FileRow>()
    for (const batch of batchesOf(asked.values(), NO_FILE)) {
      for (const row of yield* openFiles.all(principal, ...batch.flat())) {
        if (row.expires_at > now) rows.set(placeOf(row.object, row.name), row)
      }
    }
    return rows
  }

  function* publicObjects(objects: Iterable<number>, now: number): Steps<Set<number>> {
    const found = new Set<number>()
    for (const batch of batchesOf(objects, NO_NUMBER)) {
      for (const object of yield* anyPublic.all(...batch, now)) found.add(object)
    }
    return found
  }

  return {
    // In one snapshot: several statements see one state of the records, whatever is committed between them.
    *find({ principal, keys, now }: FindRequest): Steps<readonly FoundPart[]> {
      const named = yield* namedByEach([...new Set(keys)])
      const rows = yield* ownFiles(principal, named, now)
      const found = new Map<string, FoundPart>()
      for (const [key, objects] of named) {
        const rowOf = ({ object }: NamedObject): FileRow | undefined => rows.get(placeOf(object, opaqueNameOf(key)))
        const own = objects.filter((choice) => rowOf(choice) !== undefined)
        // One whose bytes the key names before one that is a CAR of them.
        const first = own.find(({ view }) => view === 'bytes') ?? own[0]
        const row = first === undefined ? undefined : rowOf(first)
        if (row === undefined) continue
        found.set(key, { outcome: 'found', part: { file: fileFromRow(row), isPlain: first?.view === 'bytes' } })
      }
      const others = [...named].filter(([key]) => !found.has(key))
      const seen = yield* publicObjects(objectsIn(others.map(([, objects]) => objects)), now)
      return keys.map((key) => {
        const isPublic = named.get(key)?.some(({ object }) => seen.has(object)) ?? false
        return found.get(key) ?? { outcome: isPublic ? 'foreign' : 'missing' }
      })
    },

    *factsOf(files: readonly number[]): Steps<ReadonlyMap<number, KeptFacts>> {
      const rows: FactsRow[] = []
      for (const batch of batchesOf(files, NO_NUMBER)) rows.push(...(yield* subtreeRoots.all(...batch)))
      const kept = new Map<number, Omit<ImportCommit, 'kind'>[]>(rows.map(({ object }) => [object, []]))
      for (const batch of batchesOf(kept.keys(), NO_NUMBER)) {
        for (const { object, profile, digests } of yield* imports.all(...batch)) {
          kept.get(object)?.push({ profile, digests })
        }
      }
      return new Map(
        rows.map(({ sequence, object, piece_subtrees }) => [
          sequence,
          { pieceSubtreeRoots: piece_subtrees ?? new Uint8Array(), imports: kept.get(object) ?? [] },
        ]),
      )
    },

    *partsOf(handle: ObjectHandle): Steps<readonly ObjectPart[]> {
      // What was called by its piece a moment ago may be called by its digest now, and is still found as that piece.
      const object = (yield* content.objectOfHandle(handle)) ?? (yield* content.objectNamedBy(handle))
      return object === undefined ? [] : yield* partsOf(object)
    },
  }
}

function objectsIn(choices: readonly (readonly NamedObject[])[]): Set<number> {
  return new Set(choices.flat().map(({ object }) => object))
}

function placeOf(object: number, name: string): string {
  return `${object} ${name}`
}
