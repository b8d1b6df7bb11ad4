import type {
  CarCandidate,
  ObjectHandle,
  UnenrolledFile,
  UnenrolledPart,
  UnreconciledPiece,
  Visibility,
  WaitingFile,
} from '../record-store.ts'
import { prepareForMany } from './many.ts'
import { preparePieceReads } from './piece-reads.ts'
import { mapEach, type Sql, type Steps } from './sql.ts'
import { isTouchedByTakedown } from './takedown-reads.ts'

interface FoundFile {
  readonly file: number
  readonly id: number
  readonly object: ObjectHandle
  readonly size_bytes: number
  readonly visibility: Visibility
  readonly piece_root: Buffer | null
  readonly piece_subtrees: Buffer | null
  readonly member_bytes: number
}

interface PartRow {
  readonly object: ObjectHandle
  readonly size_bytes: number
  readonly piece_root: Buffer
  readonly piece_subtrees: Buffer | null
}

interface CarRow {
  readonly file: number
  readonly object: ObjectHandle
  readonly sizeBytes: number
  readonly dag: number | null
  readonly profile: string | null
  readonly visibility: Visibility
}

interface Needs {
  readonly copiesWanted: number | null
  readonly neededUntil: number | null
}

const NO_OBJECT = 0

/** Provers get nothing that is taken down, as they get nothing private. */
const VISIBILITY = `CASE WHEN ${isTouchedByTakedown('objects.id')} THEN 'private' ELSE visibility END AS visibility`

/** Reads of what is to be done: files to enrol, files that wait, pieces to reconcile. */
export function preparePlacementReads(db: Sql) {
  const pieces = preparePieceReads(db)
  const withoutDeal = db.prepare<{ after: number; upTo: number; limit: number }, FoundFile>(
    `SELECT sequence AS file, objects.id, sha256 AS object, objects.size_bytes, ${VISIBILITY}, piece_root, piece_subtrees, member_bytes
     FROM files JOIN objects ON objects.id = files.object
     WHERE sequence > :after AND sequence <= :upTo AND ended_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM deals WHERE deals.file = sequence)
     ORDER BY sequence LIMIT :limit`,
  )
  const becamePublic = db.prepare<[number, number], FoundFile>(
    `SELECT sequence AS file, objects.id, sha256 AS object, objects.size_bytes, ${VISIBILITY}, piece_root, piece_subtrees, member_bytes
     FROM files JOIN objects ON objects.id = files.object
     WHERE sequence IN (SELECT file FROM reenrolments WHERE file <= ? ORDER BY file LIMIT ?) ORDER BY sequence`,
  )
  const partsOf = prepareForMany<number, PartRow & { readonly whole: number }>(
    db,
    NO_OBJECT,
    (
      wholes,
    ) => `SELECT whole, sha256 AS object, size_bytes, piece_root, piece_subtrees FROM parts JOIN objects ON objects.id = part
       WHERE whole IN (${wholes}) ORDER BY whole, position`,
  )
  const membersOf = db.prepare<[number], PartRow>(
    `SELECT sha256 AS object, size_bytes, piece_root, piece_subtrees FROM members JOIN objects ON objects.id = object
     WHERE folder = ? AND piece_root IS NOT NULL AND size_bytes > 0 AND NOT ${isTouchedByTakedown('objects.id')} ORDER BY objects.id`,
  )
  const cursor = db.prepare<[], number>("SELECT value FROM cursors WHERE name = 'enrolled'").pluck()
  const waiting = db.prepare<[number], Omit<WaitingFile, 'pieceRoot'> & { readonly root: Buffer }>(
    `SELECT deals.file, sha256 AS object, objects.size_bytes AS "sizeBytes", piece_root AS root, status_at AS since
     FROM deals JOIN files ON files.sequence = deals.file JOIN objects ON objects.id = files.object
     WHERE waits = 1 AND closed_at IS NULL AND piece_root IS NOT NULL ORDER BY deals.file LIMIT ?`,
  )
  const toCheckForCars = db.prepare<[number], CarRow>(
    `SELECT deals.file, sha256 AS object, objects.size_bytes AS "sizeBytes", dags.id AS dag, dags.layout AS profile, ${VISIBILITY}
     FROM deals ${db.dialect.indexedBy('deals_to_check_for_car')} JOIN files ON sequence = deals.file JOIN objects ON objects.id = files.object
       LEFT JOIN dags ON dags.id = (
         SELECT MIN(id) FROM dags AS own WHERE own.object = objects.id AND own.digests IS NOT NULL)
     WHERE car_checked = 0 AND closed_at IS NULL ORDER BY deals.file LIMIT ?`,
  )
  const unreconciled = db.prepare<[number, number], { id: number; revision: number }>(
    'SELECT id, revision FROM pieces WHERE unsettled_at <= ? ORDER BY unsettled_at, id LIMIT ?',
  )
  const needsOf = db.prepare<[number], Needs>(
    `SELECT MAX(COALESCE(car_copies, copies_wanted)) AS "copiesWanted", MAX(expires_at) AS "neededUntil"
     FROM deal_pieces JOIN deals ON deals.file = deal_pieces.file JOIN files ON files.sequence = deals.file
     WHERE piece = ? AND closed_at IS NULL`,
  )

  function partFromRow({ object, size_bytes, piece_root, piece_subtrees }: PartRow): UnenrolledPart {
    const pieceSubtreeRoots = piece_subtrees ?? new Uint8Array()
    return { object, sizeBytes: size_bytes, pieceRoot: piece_root.toString('hex'), pieceSubtreeRoots }
  }

  function* unenrolledFromRow(row: FoundFile, parts: readonly PartRow[]): Steps<UnenrolledFile> {
    return {
      file: row.file,
      object: row.object,
      sizeBytes: row.size_bytes,
      visibility: row.visibility,
      pieceRoot: row.piece_root?.toString('hex') ?? null,
      pieceSubtreeRoots: row.piece_subtrees ?? new Uint8Array(),
      parts: parts.map(partFromRow),
      members: row.member_bytes === 0 ? [] : (yield* membersOf.all(row.id)).map(partFromRow),
    }
  }

  function* unreconciledFromRow({ id, revision }: { id: number; revision: number }): Steps<UnreconciledPiece> {
    const piece = yield* pieces.pieceOfId(id)
    const needs = yield* needsOf.get(id)
    return {
      piece,
      copiesWanted: needs?.copiesWanted ?? 0,
      neededUntil: needs?.neededUntil ?? null,
      copies: yield* pieces.copiesOf(id),
      isComplete: piece.source.kind !== 'aggregate' || (yield* pieces.isComplete(id)),
      revision,
    }
  }

  return {
    /** Needs one state of the records for all its statements. */
    *unenrolled(request: {
      after: number
      limit: number
      /** Nothing above this is known to be whole yet. */
      upTo?: number
    }): Steps<readonly UnenrolledFile[]> {
      const { after, limit, upTo = Number.MAX_SAFE_INTEGER } = request
      // Those that nobody has looked at yet come in their turn.
      const again = yield* becamePublic.all(after, limit)
      const found = again.length > 0 ? again : yield* withoutDeal.all({ after, upTo, limit })
      const parts = Map.groupBy(yield* partsOf.all(found.map(({ id }) => id)), ({ whole }) => whole)
      return yield* mapEach(found, (row) => unenrolledFromRow(row, parts.get(row.id) ?? []))
    },

    *enrolledUpTo(): Steps<number> {
      return (yield* cursor.get()) ?? 0
    },

    *waiting({ limit }: { limit: number }): Steps<readonly WaitingFile[]> {
      return (yield* waiting.all(limit)).map(({ root, ...file }) => ({ ...file, pieceRoot: root.toString('hex') }))
    },

    *carCandidates({ limit }: { limit: number }): Steps<readonly CarCandidate[]> {
      return (yield* toCheckForCars.all(limit)).map(({ dag, profile, visibility, ...file }) => ({
        ...file,
        dag: dag === null || profile === null || visibility === 'private' ? null : { number: dag, profile },
      }))
    },

    /** Needs one state of the records for all its statements. */
    *unreconciled({ now, limit }: { now: number; limit: number }): Steps<readonly UnreconciledPiece[]> {
      return yield* mapEach(yield* unreconciled.all(now, limit), unreconciledFromRow)
    },
  }
}
