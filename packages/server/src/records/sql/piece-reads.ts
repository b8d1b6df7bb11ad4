import type { AggregateMember, CarSource, CopyRecord, ObjectHandle, PieceRecord, PieceSource } from '../record-store.ts'
import { HAS_PIECE_ROOT } from './content-reads.ts'
import { type CopyRow, copyFromRow } from './copy-row.ts'
import type { Sql, Steps } from './sql.ts'

interface PieceRow {
  readonly id: number
  readonly piece_root: Buffer
  readonly size_bytes: number
  readonly offset_bytes: number
  /** Null for an aggregate. */
  readonly object: ObjectHandle | null
  readonly place: 'inline' | 'blob' | 'none' | null
  readonly object_bytes: number | null
  /** Null for a piece that is no CAR. */
  readonly car_root: string | null
  readonly car_layout: string | null
  readonly car_dag: number | null
}

interface SourceRow {
  readonly object: ObjectHandle
  readonly offsetBytes: number
}

interface MemberRow {
  readonly object: ObjectHandle
  readonly piece_root: Buffer
  readonly size_bytes: number
  readonly padded_offset_bytes: number
  readonly is_kept: number
}

/** A piece that deals have, with what is known of the object that has its bytes. */
interface RecordedPiece {
  readonly piece: PieceRecord
  readonly pieceSubtreeRoots: Uint8Array
}

/** Pieces, where their bytes are, and their copies. For reads and writes alike. */
export function preparePieceReads(db: Sql) {
  const byId = db.prepare<[number], PieceRow>(
    `SELECT pieces.id, pieces.piece_root, pieces.size_bytes, pieces.offset_bytes, objects.sha256 AS object, objects.place,
       objects.size_bytes AS object_bytes, car_root, car_layout,
       (SELECT dags.id FROM dags WHERE dags.object = pieces.object AND dags.layout = car_layout) AS car_dag
     FROM pieces LEFT JOIN objects ON objects.id = pieces.object WHERE pieces.id = ?`,
  )
  const byRoot = db
    .prepare<[{ root: Buffer; sizeBytes: number }], number>(
      `SELECT id FROM pieces WHERE ${HAS_PIECE_ROOT} AND size_bytes = :sizeBytes`,
    )
    .pluck()
  const keptSource = db.prepare<[number], SourceRow>(
    `SELECT objects.sha256 AS object, deal_pieces.offset_bytes AS "offsetBytes"
     FROM deal_pieces JOIN objects ON objects.id = deal_pieces.object
     WHERE piece = ? AND deal_pieces.object IS NOT NULL AND place <> 'none' LIMIT 1`,
  )
  // Less than a whole file: a slice of its object, or a part of one that was composed.
  const keptSlice = db.prepare<[{ piece: number; sizeBytes: number }], SourceRow>(
    `SELECT objects.sha256 AS object, deal_pieces.offset_bytes AS "offsetBytes"
     FROM deal_pieces JOIN objects ON objects.id = deal_pieces.object JOIN files ON files.sequence = deal_pieces.file
     WHERE piece = :piece AND deal_pieces.object IS NOT NULL AND place <> 'none'
       AND (objects.size_bytes > :sizeBytes OR objects.id <> files.object) LIMIT 1`,
  )
  const treeOf = db.prepare<[string], { piece_subtrees: Buffer | null }>(
    `SELECT piece_subtrees FROM objects WHERE sha256 = ? AND place <> 'none'`,
  )
  const anyMember = db.prepare<[number], number>('SELECT 1 FROM aggregate_members WHERE piece = ? LIMIT 1').pluck()
  const anyGoneMember = db
    .prepare<[number], number>(
      `SELECT 1 FROM aggregate_members JOIN objects ON objects.id = object WHERE piece = ? AND place = 'none' LIMIT 1`,
    )
    .pluck()
  const members = db.prepare<[number], MemberRow>(
    `SELECT sha256 AS object, piece_root, size_bytes, padded_offset_bytes,
       CASE WHEN place <> 'none' THEN 1 ELSE 0 END AS is_kept
     FROM aggregate_members JOIN objects ON objects.id = object WHERE piece = ? ORDER BY padded_offset_bytes`,
  )
  const copiesOf = db.prepare<[number], CopyRow>('SELECT * FROM copies WHERE piece = ? ORDER BY id')
  const anyLiveCopy = db
    .prepare<[number], number>('SELECT 1 FROM copies WHERE piece = ? AND ended_at IS NULL LIMIT 1')
    .pluck()
  const anyOpenDeal = db
    .prepare<[number], number>(
      `SELECT 1 FROM deal_pieces JOIN deals ON deals.file = deal_pieces.file
       WHERE piece = ? AND closed_at IS NULL LIMIT 1`,
    )
    .pluck()

  /** The object that the piece was found in, else any other that has its bytes; its members, when there are only those. */
  function* sourceOf(row: PieceRow): Steps<PieceSource> {
    if (row.object === null) return { kind: 'aggregate' }
    const own = { object: row.object, offsetBytes: row.offset_bytes }
    const { car_root, car_layout, car_dag } = row
    const car: CarSource | undefined =
      car_root === null || car_layout === null
        ? undefined
        : {
            kind: 'car',
            object: row.object,
            objectBytes: row.object_bytes ?? 0,
            rootCid: car_root,
            profile: car_layout,
            dag: car_dag,
          }
    if (car !== undefined && car.dag !== null) return car
    const kept = row.place === 'none' || car !== undefined ? yield* keptSource.get(row.id) : own
    if (kept === undefined && car !== undefined) return car
    if (kept === undefined && (yield* anyMember.get(row.id)) !== undefined) return { kind: 'aggregate' }
    return { kind: 'object', ...(kept ?? own) }
  }

  function* pieceFromRow(row: PieceRow): Steps<PieceRecord> {
    const { id, piece_root, size_bytes } = row
    return { id, pieceRoot: piece_root.toString('hex'), sizeBytes: size_bytes, source: yield* sourceOf(row) }
  }

  function* pieceOfId(id: number): Steps<PieceRecord> {
    const row = yield* byId.get(id)
    if (row === undefined) throw new TypeError(`there is no piece ${id}`)
    return yield* pieceFromRow(row)
  }

  const pieceOfRoot = (pieceRoot: string, sizeBytes: number): Steps<number | undefined> =>
    byRoot.get({ root: Buffer.from(pieceRoot, 'hex'), sizeBytes })

  function* isNeeded(piece: number): Steps<boolean> {
    return (yield* anyOpenDeal.get(piece)) !== undefined
  }

  function* isComplete(piece: number): Steps<boolean> {
    return (yield* anyGoneMember.get(piece)) === undefined
  }

  return {
    /** Needs one state of the records for all its statements. */
    *recorded({ pieceRoot, sizeBytes }: { pieceRoot: string; sizeBytes: number }): Steps<RecordedPiece | undefined> {
      const id = yield* pieceOfRoot(pieceRoot, sizeBytes)
      if (id === undefined || !(yield* isNeeded(id))) return undefined
      const piece = yield* pieceOfId(id)
      if (piece.source.kind === 'aggregate') {
        if (!(yield* isComplete(id))) return undefined
        return { piece, pieceSubtreeRoots: new Uint8Array() }
      }
      const object = yield* treeOf.get(piece.source.object)
      if (object === undefined) return undefined
      if (piece.source.kind === 'car') return { piece, pieceSubtreeRoots: new Uint8Array() }
      return { piece, pieceSubtreeRoots: Uint8Array.from(object.piece_subtrees ?? []) }
    },

    pieceOfId,
    pieceOfRoot,
    /** True while a deal that is open has the piece. */
    isNeeded,
    /** False for an aggregate of which some bytes are gone. */
    isComplete,
    *copiesOf(piece: number): Steps<CopyRecord[]> {
      return (yield* copiesOf.all(piece)).map(copyFromRow)
    },

    *membersOf(piece: number): Steps<readonly AggregateMember[]> {
      return (yield* members.all(piece)).map((row) => ({
        object: row.object,
        pieceRoot: row.piece_root.toString('hex'),
        sizeBytes: row.size_bytes,
        paddedOffsetBytes: row.padded_offset_bytes,
        isKept: row.is_kept === 1,
      }))
    },

    /** Needs one state of the records for all its statements. */
    *pieceOf({ pieceRoot, sizeBytes }: { pieceRoot: string; sizeBytes: number }): Steps<PieceRecord | undefined> {
      const id = yield* pieceOfRoot(pieceRoot, sizeBytes)
      if (id === undefined) return undefined
      if (!(yield* isNeeded(id)) && (yield* anyLiveCopy.get(id)) === undefined) return undefined
      const slice = yield* keptSlice.get({ piece: id, sizeBytes })
      if (slice !== undefined) return { id, pieceRoot, sizeBytes, source: { kind: 'object', ...slice } }
      if ((yield* anyMember.get(id)) !== undefined && (yield* isComplete(id))) {
        return { id, pieceRoot, sizeBytes, source: { kind: 'aggregate' } }
      }
      const piece = yield* pieceOfId(id)
      return piece.source.kind === 'car' && piece.source.dag !== null ? piece : undefined
    },
  }
}
