import type { FoundPart, ImportCommit, ObjectHandle, ObjectPart, PartFacts } from '../record-store.ts'
import { type NamedObject, prepareContentReads } from './content-reads.ts'
import { type FileRow, fileFromRow } from './file-row.ts'
import { damagedRecords, isIntact, partName, type SealedBytes, type SealedRow } from './seals.ts'
import { mapEach, type Sql, type Steps } from './sql.ts'

interface FindRequest {
  readonly principal: string
  readonly keys: readonly string[]
  readonly now: number
}

interface OwnFile extends NamedObject {
  readonly row: FileRow
}

/** How an object is a part of another one. */
export const PART_ROLE = 'part'

interface PartRow extends SealedRow {
  readonly object: ObjectHandle
  readonly position: number
}

type KeptFacts = Omit<PartFacts, 'file' | 'isPlain'>

/** Reads of what files can be composed of, and of what they were. */
export function prepareCompositionReads(db: Sql) {
  const content = prepareContentReads(db)
  const subtreeRoots = db.prepare<[number], Buffer | null>('SELECT piece_subtrees FROM objects WHERE id = ?').pluck()
  const imports = db.prepare<[number], Omit<ImportCommit, 'kind'>>(
    "SELECT layout AS profile, digests FROM dags WHERE object = ? AND layout <> 'car'",
  )
  const anyPublic = db
    .prepare<[number, number], number>(
      `SELECT 1 FROM files ${db.dialect.indexedBy('files_live_by_object')}
       WHERE object = ? AND ended_at IS NULL AND expires_at > ? AND visibility = 'public' LIMIT 1`,
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

  /** The live file under this key: one whose bytes it names before one that is a CAR of them. */
  function* ownFile(principal: string, key: string, now: number): Steps<OwnFile | undefined> {
    let car: OwnFile | undefined
    for (const named of yield* content.objectsNamedBy(key)) {
      const row = yield* content.openFile(principal, named.object, key)
      if (row === undefined || row.expires_at <= now) continue
      if (named.view === 'bytes') return { ...named, row }
      car ??= { ...named, row }
    }
    return car
  }

  function* isPublic(key: string, now: number): Steps<boolean> {
    for (const { object } of yield* content.objectsNamedBy(key)) {
      if ((yield* anyPublic.get(object, now)) !== undefined) return true
    }
    return false
  }

  return {
    // In one snapshot: several statements see one state of the records, whatever is committed between them.
    *find({ principal, keys, now }: FindRequest): Steps<readonly FoundPart[]> {
      const known = new Map<number, KeptFacts>()
      function* factsOf(object: number): Steps<KeptFacts> {
        const facts = known.get(object) ?? {
          pieceSubtreeRoots: (yield* subtreeRoots.get(object)) ?? new Uint8Array(),
          imports: yield* imports.all(object),
        }
        known.set(object, facts)
        return facts
      }
      return yield* mapEach(keys, function* (key): Steps<FoundPart> {
        const own = yield* ownFile(principal, key, now)
        if (own === undefined) return { outcome: (yield* isPublic(key, now)) ? 'foreign' : 'missing' }
        const { object, view, row } = own
        const facts = yield* factsOf(object)
        return { outcome: 'found', part: { file: fileFromRow(row), isPlain: view === 'bytes', ...facts } }
      })
    },

    *partsOf(handle: ObjectHandle): Steps<readonly ObjectPart[]> {
      // What was called by its piece a moment ago may be called by its digest now, and is still found as that piece.
      const object = (yield* content.objectOfHandle(handle)) ?? (yield* content.objectNamedBy(handle))
      return object === undefined ? [] : yield* partsOf(object)
    },
  }
}
