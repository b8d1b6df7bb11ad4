import { sha256Multihashes } from '../multihash.ts'
import { pieceHandle } from '../object-handle.ts'
import type { CarCommit, CompositionCommit, ContentFacts, ContentView, DagCommit, FileCommit } from '../record-store.ts'
import { PART_ROLE } from './composition-reads.ts'
import { HAS_PIECE_ROOT, NAME_ROLE } from './content-reads.ts'
import type { IntegrityWrites } from './integrity-writes.ts'
import { prepareForMany } from './many.ts'
import { partName, type SealedBytes, sealOf } from './seals.ts'
import { forEach, type Sql, type Steps } from './sql.ts'

const NO_OBJECT = 0

export type ContentWrites = ReturnType<typeof prepareContentWrites>

/** Objects, and what verification learned about them. Each function runs inside the caller's transaction. */
export function prepareContentWrites(db: Sql, integrity: IntegrityWrites) {
  const insertObject = db.prepareInsertion<
    [string, number, string, string, Buffer, Uint8Array | null, Uint8Array | null]
  >(
    'id',
    `INSERT INTO objects (sha256, size_bytes, place, put, piece_root, piece_subtrees, inline)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  )
  // Bytes that are in the blob store already stay there; inline bytes give way to those, and those to a later put.
  const placeObject = db.prepare<[{ id: number; place: string; put: string; inline: Uint8Array | null }]>(
    `UPDATE objects SET place = :place, put = :put, inline = :inline, inline_v1 = NULL
     WHERE id = :id AND (place = 'none' OR (CAST(:place AS TEXT) = 'blob' AND (
       place = 'inline' OR (put <> :put AND NOT EXISTS (SELECT 1 FROM parts WHERE whole = objects.id)))))`,
  )
  const usePut = db.prepare<[{ id: number; put: string }]>(
    `UPDATE objects SET put = :put
     WHERE id = :id AND place = 'blob' AND NOT EXISTS (SELECT 1 FROM parts WHERE whole = objects.id)`,
  )
  // The bytes of the commit were verified now, the stored ones at some time before.
  const replaceInline = db.prepare<[{ id: number; inline: Uint8Array }]>(
    `UPDATE objects SET inline = :inline, inline_v1 = NULL
     WHERE id = :id AND place = 'inline' AND coalesce(inline, inline_v1) IS DISTINCT FROM :inline`,
  )
  // A blob that is known to be damaged gives way to bytes that are right.
  const takeIn = db.prepare<[{ id: number; inline: Uint8Array }]>(
    `UPDATE objects SET place = 'inline', put = '', inline = :inline, inline_v1 = NULL WHERE id = :id`,
  )
  const damagedPut = db
    .prepare<[number], string>(
      "SELECT put FROM objects WHERE id = ? AND place = 'blob' AND EXISTS (SELECT 1 FROM damaged WHERE object = objects.id)",
    )
    .pluck()
  const placeOf = db.prepare<[number], string>('SELECT place FROM objects WHERE id = ?').pluck()
  const bringBack = db.prepare<[number]>("UPDATE objects SET place = 'blob' WHERE id = ? AND place = 'none'")
  const dropBytes = prepareForMany<number>(
    db,
    NO_OBJECT,
    (objects) =>
      `UPDATE objects SET place = 'none', put = '', inline = NULL, inline_v1 = NULL WHERE id IN (${objects})`,
  )
  const isComposed = db.prepare<[number], number>('SELECT 1 FROM parts WHERE whole = ? LIMIT 1').pluck()
  const insertPart = db.prepare<[number, number, number, string | null]>(
    'INSERT INTO parts (whole, position, part, seal) VALUES (?, ?, ?, ?)',
  )
  const bytesOf = db.prepare<[number], SealedBytes>('SELECT piece_root, size_bytes FROM objects WHERE id = ?')
  const dropParts = prepareForMany<number>(db, NO_OBJECT, (objects) => `DELETE FROM parts WHERE whole IN (${objects})`)
  const setDigest = db.prepare<[{ id: number; sha256: string }]>(
    "UPDATE objects SET sha256 = :sha256 WHERE id = :id AND sha256 LIKE 'piece:%'",
  )
  const setPiece = db.prepare<[{ id: number; root: Buffer; subtrees: Uint8Array | null }]>(
    `UPDATE objects SET piece_root = :root, piece_subtrees = :subtrees,
       inline = coalesce(inline, inline_v1), inline_v1 = NULL
     WHERE id = :id AND piece_root IS NULL`,
  )
  const otherOfRoot = db
    .prepare<[{ root: Buffer; id: number }], number | null>(
      `SELECT MIN(id) FROM objects WHERE ${HAS_PIECE_ROOT} AND id <> :id`,
    )
    .pluck()
  const insertName = db.prepare<[string, number, string | null]>(
    'INSERT INTO names (name, object, seal) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const insertAlias = db.prepare<[string, number, ContentView, string | null]>(
    `INSERT INTO aliases (key, object, view, since, seal) VALUES (?, ?, ?, ${db.dialect.nextSequence}, ?)
     ON CONFLICT (key, object, view) DO UPDATE SET seal = excluded.seal WHERE aliases.seal IS DISTINCT FROM excluded.seal`,
  )
  const insertDag = db
    .prepare<[number, string, Uint8Array | null], number>(
      'INSERT INTO dags (object, layout, digests) VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING id',
    )
    .pluck()
  const insertBlock = db.prepare<[Uint8Array, number, number, number | null, number | null]>(
    `INSERT INTO blocks (multihash, dag, node, offset_bytes, length_bytes) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
  )
  const cutOffDags = prepareForMany<number>(
    db,
    NO_OBJECT,
    (objects) => `UPDATE dags SET object = NULL, digests = NULL WHERE object IN (${objects})`,
  )
  const cutOffDag = db.prepare<[], number>('SELECT id FROM dags WHERE object IS NULL LIMIT 1').pluck()
  const deleteBlocks = db.prepare<[{ dag: number; limit: number }]>(
    `DELETE FROM blocks WHERE dag = :dag AND multihash IN (SELECT multihash FROM blocks WHERE dag = :dag LIMIT :limit)`,
  )
  const deleteDag = db.prepare<[number]>('DELETE FROM dags WHERE id = ?')

  /** Binds a name for good, unless it is bound. */
  function* bindName(name: string, object: number): Steps<void> {
    const bytes = yield* bytesOf.get(object)
    yield* insertName.run(name, object, bytes ? sealOf(name, NAME_ROLE, bytes) : null)
  }

  /** Completes an object that was staged before pieces were recorded. */
  function* learnPiece(id: number, { pieceRoot, pieceSubtreeRoots }: ContentFacts): Steps<void> {
    const root = Buffer.from(pieceRoot, 'hex')
    const { changes } = yield* setPiece.run({ id, root, subtrees: orNull(pieceSubtreeRoots) })
    if (changes === 0) return
    const first = (yield* otherOfRoot.get({ root, id })) ?? undefined
    // The piece-v1 key stays with the object that it was bound to, though this one is older.
    if (first !== undefined && first > id) yield* bindName(`piece-v1:${pieceRoot}`, first)
  }

  function* learnDag(object: number, dag: DagCommit): Steps<void> {
    const [layout, digests] = dag.kind === 'car' ? ['car', null] : [dag.profile, dag.digests]
    const id = yield* insertDag.get(object, layout, digests)
    if (id === undefined) return
    const multihashes = dag.kind === 'car' ? multihashesOf(dag) : sha256Multihashes(dag.digests)
    const { offsetBytes, sizeBytes } = dag.kind === 'car' ? dag : {}
    for (const node of inIndexOrder(multihashes)) {
      const multihash = multihashes[node] ?? new Uint8Array()
      yield* insertBlock.run(multihash, id, node, offsetBytes?.[node] ?? null, sizeBytes?.[node] ?? null)
    }
  }

  function* learnNames(object: number, { aliases, dags }: ContentFacts): Steps<void> {
    const bytes = aliases.length === 0 ? undefined : yield* bytesOf.get(object)
    yield* forEach(aliases, ({ key, view }) =>
      insertAlias.run(key, object, view, bytes ? sealOf(key, view, bytes) : null),
    )
    yield* forEach(dags, (dag) => learnDag(object, dag))
  }

  function* putParts(whole: number, parts: readonly number[]): Steps<void> {
    const bytes = yield* bytesOf.get(whole)
    yield* forEach(parts, function* (part, position): Steps<void> {
      const partBytes = yield* bytesOf.get(part)
      const seal = bytes && partBytes ? sealOf(partName(bytes, position), PART_ROLE, partBytes) : null
      yield* insertPart.run(whole, position, part, seal)
    })
  }

  function* learn(object: number, facts: ContentFacts, sha256: string | null): Steps<void> {
    if (sha256 !== null) yield* setDigest.run({ id: object, sha256 })
    yield* learnPiece(object, facts)
    yield* learnNames(object, facts)
  }

  /**
   * Leaves the verified bytes of a commit behind in any case: in the records they take the place of damaged ones, in the blob store
   * they have replaced what was there, and their chunks are recorded.
   *
   * @returns the put of a blob that is not needed any more, since the bytes are in the records now.
   */
  function* putBytes(object: number, { inline, chunkDigests }: FileCommit): Steps<string | undefined> {
    const isInParts = (yield* isComposed.get(object)) !== undefined
    if (inline === undefined) {
      if (isInParts || (yield* placeOf.get(object)) !== 'blob') return undefined
      if (chunkDigests !== undefined) yield* integrity.recordChunks(object, chunkDigests)
      yield* integrity.bytesAreRight(object)
      return undefined
    }
    yield* replaceInline.run({ id: object, inline })
    const leftPut = isInParts ? undefined : yield* damagedPut.get(object)
    if (leftPut !== undefined) {
      yield* takeIn.run({ id: object, inline })
      yield* integrity.forgetBytes([object])
    } else if (!isInParts && (yield* placeOf.get(object)) === 'inline') {
      yield* integrity.bytesAreRight(object)
    }
    return leftPut
  }

  return {
    /** Keeps what was learned about an object whose bytes are in place. */
    learn,
    putBytes,
    bindName,

    *isComposed(object: number): Steps<boolean> {
      return (yield* isComposed.get(object)) !== undefined
    },

    /** From now on the object is read from this put, if it has its bytes in the blob store. */
    *usePut(object: number, put: string): Steps<void> {
      yield* usePut.run({ id: object, put })
    },

    /** The object's number, with its bytes where this commit says that they are, and all that it learned. */
    *putObject(commit: FileCommit, known: number | undefined): Steps<number> {
      const { file, content } = commit
      const { inline = null, put = '' } = commit
      const place = inline === null ? 'blob' : 'inline'
      if (known !== undefined) {
        yield* placeObject.run({ id: known, place, put, inline })
        yield* learn(known, content, file.sha256)
        return known
      }
      const root = Buffer.from(content.pieceRoot, 'hex')
      const subtrees = orNull(content.pieceSubtreeRoots)
      const object = yield* insertObject(file.sha256, file.sizeBytes, place, put, root, subtrees, inline)
      if (commit.chunkDigests !== undefined) yield* integrity.recordChunks(object, commit.chunkDigests)
      yield* learnNames(object, content)
      return object
    },

    /**
     * As `putObject`, for bytes that are those of other objects, one behind the other. Bytes that are kept already stay as
     * they are.
     */
    *putComposed(
      { file, content }: CompositionCommit,
      known: number | undefined,
      parts: readonly number[],
    ): Steps<number> {
      if (known !== undefined) {
        const { changes } = yield* bringBack.run(known)
        if (changes > 0) yield* putParts(known, parts)
        yield* learn(known, content, file.sha256)
        return known
      }
      const root = Buffer.from(content.pieceRoot, 'hex')
      const handle = file.sha256 ?? pieceHandle({ ...content, sizeBytes: file.sizeBytes })
      const subtrees = orNull(content.pieceSubtreeRoots)
      const object = yield* insertObject(handle, file.sizeBytes, 'blob', '', root, subtrees, null)
      yield* putParts(object, parts)
      yield* learnNames(object, content)
      return object
    },

    /** Forgets the bytes of objects, the blocks in them, and what they were composed of. */
    *dropBytes(objects: readonly number[]): Steps<void> {
      yield* dropBytes.run(objects)
      yield* dropParts.run(objects)
      yield* cutOffDags.run(objects)
      yield* integrity.forgetBytes(objects)
    },

    *sweep({ limit }: { limit: number }): Steps<number> {
      let left = limit
      while (left > 0) {
        const dag = yield* cutOffDag.get()
        if (dag === undefined) break
        const blocks = yield* deleteBlocks.run({ dag, limit: left })
        left -= blocks.changes
        if (left > 0) left -= (yield* deleteDag.run(dag)).changes
      }
      return limit - left
    },
  }
}

function orNull(bytes: Uint8Array): Uint8Array | null {
  return bytes.length === 0 ? null : bytes
}

function multihashesOf({ multihashes, multihashEnds }: CarCommit): Uint8Array[] {
  return Array.from(multihashEnds, (end, index) => multihashes.subarray(multihashEnds[index - 1] ?? 0, end))
}

/**
 * The numbers of the multihashes in about the order of their index, so that each page of it is touched once and not over
 * and over; equal ones stay in order.
 */
function inIndexOrder(multihashes: readonly Uint8Array[]): number[] {
  const count = multihashes.length
  // Four bytes of the digest above the number: exact below 2^53.
  const ranks = Float64Array.from(multihashes, (multihash, index) => headOf(multihash) * count + index)
  return Array.from(ranks.sort(), (rank) => rank % count)
}

/** The first bytes of a multihash that differ, as a number; most begin with two bytes that say the hash and the length. */
function headOf(multihash: Uint8Array): number {
  let head = 0
  for (let index = 2; index < 6; index += 1) head = head * 256 + (multihash[index] ?? 0)
  return head
}
