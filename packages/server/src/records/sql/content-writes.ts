import { sha256Multihashes } from '../multihash.ts'
import { pieceHandle } from '../object-handle.ts'
import type { CarCommit, CompositionCommit, ContentFacts, ContentView, DagCommit, FileCommit } from '../record-store.ts'
import { HAS_PIECE_ROOT } from './content-reads.ts'
import { insertedNumber } from './inserted-number.ts'
import { forEach, type Sql, type Steps } from './sql.ts'

export type ContentWrites = ReturnType<typeof prepareContentWrites>

/** Objects, and what verification learned about them. Each function runs inside the caller's transaction. */
export function prepareContentWrites(db: Sql) {
  const insertObject = db
    .prepare<[string, number, string, Buffer, Uint8Array | null, Uint8Array | null], number>(
      `INSERT INTO objects (sha256, size_bytes, place, piece_root, piece_subtrees, inline) VALUES (?, ?, ?, ?, ?, ?)
       RETURNING id`,
    )
    .pluck()
  // Bytes that are in the blob store already stay there; inline bytes give way to those.
  const placeObject = db.prepare<[{ id: number; place: string; inline: Uint8Array | null }]>(
    `UPDATE objects SET place = :place, inline = :inline, inline_v1 = NULL
     WHERE id = :id AND (place = 'none' OR (place = 'inline' AND CAST(:place AS TEXT) = 'blob'))`,
  )
  const bringBack = db.prepare<[number]>("UPDATE objects SET place = 'blob' WHERE id = ? AND place = 'none'")
  const dropBytes = db.prepare<[number]>(
    "UPDATE objects SET place = 'none', inline = NULL, inline_v1 = NULL WHERE id = ?",
  )
  const isComposed = db.prepare<[number], number>('SELECT 1 FROM parts WHERE whole = ? LIMIT 1').pluck()
  const insertPart = db.prepare<[number, number, number]>('INSERT INTO parts (whole, position, part) VALUES (?, ?, ?)')
  const dropParts = db.prepare<[number]>('DELETE FROM parts WHERE whole = ?')
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
  const bindPieceV1 = db.prepare<[string, number]>(
    'INSERT INTO names (name, object) VALUES (?, ?) ON CONFLICT DO NOTHING',
  )
  const insertAlias = db.prepare<[string, number, ContentView]>(
    `INSERT INTO aliases (key, object, view, since)
     VALUES (?, ?, ?, ${db.dialect.nextSequence}) ON CONFLICT DO NOTHING`,
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
  const cutOffDags = db.prepare<[number]>('UPDATE dags SET object = NULL, digests = NULL WHERE object = ?')
  const cutOffDag = db.prepare<[], number>('SELECT id FROM dags WHERE object IS NULL LIMIT 1').pluck()
  const deleteBlocks = db.prepare<[{ dag: number; limit: number }]>(
    `DELETE FROM blocks WHERE dag = :dag AND multihash IN (SELECT multihash FROM blocks WHERE dag = :dag LIMIT :limit)`,
  )
  const deleteDag = db.prepare<[number]>('DELETE FROM dags WHERE id = ?')

  /** Completes an object that was staged before pieces were recorded. */
  function* learnPiece(id: number, { pieceRoot, pieceSubtreeRoots }: ContentFacts): Steps<void> {
    const root = Buffer.from(pieceRoot, 'hex')
    const { changes } = yield* setPiece.run({ id, root, subtrees: orNull(pieceSubtreeRoots) })
    if (changes === 0) return
    const first = (yield* otherOfRoot.get({ root, id })) ?? undefined
    // The piece-v1 key stays with the object that it was bound to, though this one is older.
    if (first !== undefined && first > id) yield* bindPieceV1.run(`piece-v1:${pieceRoot}`, first)
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
    yield* forEach(aliases, ({ key, view }) => insertAlias.run(key, object, view))
    yield* forEach(dags, (dag) => learnDag(object, dag))
  }

  const putParts = (whole: number, parts: readonly number[]): Steps<void> =>
    forEach(parts, (part, position) => insertPart.run(whole, position, part))

  function* learn(object: number, facts: ContentFacts, sha256: string | null): Steps<void> {
    if (sha256 !== null) yield* setDigest.run({ id: object, sha256 })
    yield* learnPiece(object, facts)
    yield* learnNames(object, facts)
  }

  return {
    /** Keeps what was learned about an object whose bytes are in place. */
    learn,

    *isComposed(object: number): Steps<boolean> {
      return (yield* isComposed.get(object)) !== undefined
    },

    /** The object's number, with its bytes where this commit says that they are, and all that it learned. */
    *putObject(commit: FileCommit, known: number | undefined): Steps<number> {
      const { file, content } = commit
      const inline = commit.inline ?? null
      const place = inline === null ? 'blob' : 'inline'
      if (known !== undefined) {
        yield* placeObject.run({ id: known, place, inline })
        yield* learn(known, content, file.sha256)
        return known
      }
      const root = Buffer.from(content.pieceRoot, 'hex')
      const subtrees = orNull(content.pieceSubtreeRoots)
      const inserted = insertObject.get(file.sha256, file.sizeBytes, place, root, subtrees, inline)
      const object = yield* insertedNumber(inserted)
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
      const inserted = insertObject.get(handle, file.sizeBytes, 'blob', root, subtrees, null)
      const object = yield* insertedNumber(inserted)
      yield* putParts(object, parts)
      yield* learnNames(object, content)
      return object
    },

    /** Forgets the bytes of an object, the blocks in them, and what they were composed of. */
    *dropBytes(object: number): Steps<void> {
      yield* dropBytes.run(object)
      yield* dropParts.run(object)
      yield* cutOffDags.run(object)
    },

    *sweepBlocks({ limit }: { limit: number }): Steps<number> {
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
