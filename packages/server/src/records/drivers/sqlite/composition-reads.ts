import type { FoundPart, ImportCommit, ObjectHandle, ObjectPart, PartFacts } from '../../record-store.ts'
import type { Connection } from './connection.ts'
import { type NamedObject, prepareContentReads } from './content-reads.ts'
import { type FileRow, fileFromRow } from './file-row.ts'

interface FindRequest {
  readonly principal: string
  readonly keys: readonly string[]
  readonly now: number
}

type KeptFacts = Omit<PartFacts, 'file' | 'isPlain'>

/** Reads of what files can be composed of, and of what they were. */
export function prepareCompositionReads(db: Connection) {
  const content = prepareContentReads(db)
  const subtreeRoots = db.prepare<[number], Buffer | null>('SELECT piece_subtrees FROM objects WHERE id = ?').pluck()
  const imports = db.prepare<[number], Omit<ImportCommit, 'kind'>>(
    "SELECT layout AS profile, digests FROM dags WHERE object = ? AND layout <> 'car'",
  )
  const anyPublic = db
    .prepare<[number, number], number>(
      "SELECT 1 FROM files WHERE object = ? AND ended_at IS NULL AND expires_at > ? AND visibility = 'public' LIMIT 1",
    )
    .pluck()
  const partsOf = db.prepare<[number], ObjectPart>(
    `SELECT objects.sha256 AS object, objects.size_bytes AS sizeBytes FROM parts JOIN objects ON objects.id = parts.part
     WHERE whole = ? ORDER BY position`,
  )

  /** The live file under this key: one whose bytes it names before one that is a CAR of them. */
  function ownFile(principal: string, key: string, now: number): (NamedObject & { row: FileRow }) | undefined {
    let car: (NamedObject & { row: FileRow }) | undefined
    for (const named of content.objectsNamedBy(key)) {
      const row = content.openFile(principal, named.object, key)
      if (row === undefined || row.expires_at <= now) continue
      if (named.view === 'bytes') return { ...named, row }
      car ??= { ...named, row }
    }
    return car
  }

  function isPublic(key: string, now: number): boolean {
    return [...content.objectsNamedBy(key)].some(({ object }) => anyPublic.get(object, now) !== undefined)
  }

  // Several statements see one state of the records, whatever is committed between them.
  const find = db.transaction(({ principal, keys, now }: FindRequest): FoundPart[] => {
    const known = new Map<number, KeptFacts>()
    const factsOf = (object: number): KeptFacts => {
      const facts = known.get(object) ?? {
        pieceSubtreeRoots: subtreeRoots.get(object) ?? new Uint8Array(),
        imports: imports.all(object),
      }
      known.set(object, facts)
      return facts
    }
    return keys.map((key) => {
      const own = ownFile(principal, key, now)
      if (own === undefined) return { outcome: isPublic(key, now) ? 'foreign' : 'missing' }
      const { object, view, row } = own
      return { outcome: 'found', part: { file: fileFromRow(row), isPlain: view === 'bytes', ...factsOf(object) } }
    })
  })

  return {
    find: (request: FindRequest): readonly FoundPart[] => find(request),

    partsOf(handle: ObjectHandle): readonly ObjectPart[] {
      // What was called by its piece a moment ago may be called by its digest now, and is still found as that piece.
      const object = content.objectOfHandle(handle) ?? content.objectNamedBy(handle)
      return object === undefined ? [] : partsOf.all(object)
    },
  }
}
