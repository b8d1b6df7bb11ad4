import type { PlacedStatus } from '../record-store.ts'
import { prepareForMany, prepareForRows } from './many.ts'
import type { Sql, SqlValue, Steps } from './sql.ts'

/** A piece to be recorded, with the number of the object that has its bytes; an aggregate has none. */
export interface FoundPiece {
  readonly pieceRoot: string
  readonly sizeBytes: number
  readonly object: number | null
  readonly offsetBytes: number
}

interface PieceRow {
  readonly id: number
  readonly object: number | null
  readonly piece_root: Buffer
  readonly size_bytes: number
}

const NO_NUMBER = 0
/** Of a root, what is in the index of pieces. */
const HEAD_BYTES = 6
const NO_HEAD = Buffer.alloc(0)

/** The CAR of an object, as a piece. */
interface FoundCar extends Pick<FoundPiece, 'pieceRoot' | 'sizeBytes'> {
  readonly object: number
  readonly rootCid: string
  readonly profile: string
}

/** False of a copy whose deal is on the chain and was not accepted: its prover has agreed to nothing. */
const IS_ACCEPTED = `NOT EXISTS (
  SELECT 1 FROM onchain_deals JOIN escrows ON escrows.contract = onchain_deals.contract AND escrows.onchain_id = onchain_deals.onchain_id
  WHERE onchain_deals.copy = copies.id AND escrows.state IN ('proposed', 'withdrawn')
)`

interface StatusOfPiece {
  readonly status: PlacedStatus
  readonly failure: string | null
  readonly wanted: number
  readonly is_short: number
  readonly held: number
  readonly proved: number
}

interface MovedDeal {
  readonly file: number
  readonly newStatus: PlacedStatus
  readonly newCause: string | null
}

/** Where its pieces have a deal stand. */
const NEW_STATUS = `CASE WHEN MIN(CASE pieces.status WHEN 'active' THEN 1 ELSE 0 END) = 1 THEN 'active'
         WHEN MAX(CASE pieces.status WHEN 'failed' THEN 1 ELSE 0 END) = 1 THEN 'failed'
         WHEN MAX(CASE WHEN pieces.status IN ('active', 'proposed') THEN 1 ELSE 0 END) = 1 THEN 'proposed'
         ELSE 'staged' END`
const NEW_CAUSE = "MIN(CASE pieces.status WHEN 'failed' THEN pieces.failure END)"

/** The open deals that `condition` selects whose status differs from what their pieces imply. */
function movedDeals(condition: string): string {
  // The other columns of deals have one value in each group, since file is their key.
  return `SELECT deals.file, ${NEW_STATUS} AS "newStatus", ${NEW_CAUSE} AS "newCause"
     FROM deals JOIN deal_pieces ON deal_pieces.file = deals.file JOIN pieces ON pieces.id = deal_pieces.piece
     WHERE deals.file ${condition} AND closed_at IS NULL AND car_copies IS NULL GROUP BY deals.file
     HAVING deals.status <> ${NEW_STATUS} OR deals.cause IS DISTINCT FROM ${NEW_CAUSE}`
}

/** Pieces, and the status that they give their deals. Runs inside the caller's transaction. */
export function preparePieceWrites(db: Sql) {
  // By the index of heads; few pieces have one in common.
  const ofHeads = prepareForMany<Buffer, PieceRow>(
    db,
    NO_HEAD,
    (heads) =>
      `SELECT id, object, piece_root, size_bytes FROM pieces WHERE substr(piece_root, 1, ${HEAD_BYTES}) IN (${heads}) ORDER BY id`,
  )
  const insert = prepareForRows<Omit<PieceRow, 'object'>>(
    db,
    "(?, ?, ?, ?, ?, 1, 0, 0, 'staged')",
    (rows) =>
      `INSERT INTO pieces (object, offset_bytes, size_bytes, piece_root, unsettled_at, revision, wanted, is_short, status)
       VALUES ${rows} RETURNING id, piece_root, size_bytes`,
  )
  const findBytes = db.prepare<[{ id: number; object: number | null; offsetBytes: number }]>(
    'UPDATE pieces SET object = :object, offset_bytes = :offsetBytes WHERE id = :id AND object IS NULL',
  )
  const setCar = db.prepare<[{ id: number; object: number; rootCid: string; profile: string }]>(
    `UPDATE pieces SET object = :object, car_root = :rootCid, car_layout = :profile
     WHERE id = :id AND (object IS NULL OR object = :object OR car_root IS NOT NULL)`,
  )
  const setUnreconciled = prepareForMany<number>(
    db,
    NO_NUMBER,
    (ids) => `UPDATE pieces SET unsettled_at = ${db.dialect.least('coalesce(unsettled_at, ?)', '?')},
       revision = revision + 1 WHERE id IN (${ids})`,
  )
  const statusOfPiece = db.prepare<[number], StatusOfPiece>(
    `SELECT status, failure, wanted, is_short,
       (SELECT COUNT(*) FROM copies WHERE piece = pieces.id AND ended_at IS NULL AND state <> 'pending') AS held,
       (SELECT COUNT(*) FROM copies WHERE piece = pieces.id AND ended_at IS NULL AND proved_at IS NOT NULL
         AND ${IS_ACCEPTED}) AS proved
     FROM pieces WHERE id = ?`,
  )
  const setStatus = db.prepare<[{ id: number; status: PlacedStatus; failure: string | null; isShort: number }]>(
    'UPDATE pieces SET status = :status, failure = :failure, is_short = :isShort WHERE id = :id',
  )
  const movedByPiece = db.prepare<[number], MovedDeal>(movedDeals('IN (SELECT file FROM deal_pieces WHERE piece = ?)'))
  const movedByFile = prepareForMany<number, MovedDeal>(db, NO_NUMBER, (files) => movedDeals(`IN (${files})`))
  const moveDeals = prepareForMany<number>(
    db,
    NO_NUMBER,
    (files) =>
      `UPDATE deals SET status_at = CASE status WHEN ? THEN status_at ELSE ? END, status = ?, cause = ? WHERE file IN (${files})`,
  )

  /** Has the piece reconciled, now at the latest. */
  function* markUnreconciled(id: number, now: number): Steps<void> {
    yield* setUnreconciled.run([id], now, now)
  }

  function* move(moved: readonly MovedDeal[], now: number): Steps<void> {
    const groups = Map.groupBy(moved, ({ newStatus, newCause }) => JSON.stringify([newStatus, newCause]))
    for (const deals of groups.values()) {
      const [first] = deals
      if (first === undefined) continue
      const { newStatus, newCause } = first
      const files = deals.map(({ file }) => file)
      yield* moveDeals.run(files, newStatus, now, newStatus, newCause)
    }
  }

  /**
   * The numbers of these pieces, which are unreconciled now. A piece keeps the object that it was first found in, and is one piece where it
   * is here more than once.
   */
  function* putPieces(found: readonly FoundPiece[], now: number): Steps<number[]> {
    const known = new Map<string, PieceRow>()
    for (const row of yield* ofHeads.all(
      new Map(found.map(({ pieceRoot }) => [pieceRoot, headOf(pieceRoot)])).values(),
    )) {
      const key = keyOf(row.piece_root.toString('hex'), row.size_bytes)
      if (!known.has(key)) known.set(key, row)
    }
    const ids = new Map(Array.from(known, ([key, { id }]) => [key, id]))
    // Of equal ones, the first of which the object is known.
    const located = new Map<string, FoundPiece>()
    for (const piece of found) {
      const key = keyOf(piece.pieceRoot, piece.sizeBytes)
      if ((located.get(key)?.object ?? null) === null) located.set(key, piece)
    }
    const added: SqlValue[][] = []
    const marked: number[] = []
    for (const [key, { pieceRoot, sizeBytes, object, offsetBytes }] of located) {
      const row = known.get(key)
      if (row === undefined) added.push([object, offsetBytes, sizeBytes, Buffer.from(pieceRoot, 'hex'), now])
      else {
        marked.push(row.id)
        if (row.object === null && object !== null) yield* findBytes.run({ id: row.id, object, offsetBytes })
      }
    }
    yield* setUnreconciled.run(marked, now, now)
    for (const { id, piece_root, size_bytes } of yield* insert.all(added)) {
      ids.set(keyOf(piece_root.toString('hex'), size_bytes), id)
    }
    return found.map(({ pieceRoot, sizeBytes }) => ids.get(keyOf(pieceRoot, sizeBytes)) ?? NO_NUMBER)
  }

  function* putPiece(piece: FoundPiece, now: number): Steps<number> {
    const [id = NO_NUMBER] = yield* putPieces([piece], now)
    return id
  }

  /** Call after a piece got deals. */
  function* restateDealsOf(id: number, now: number): Steps<void> {
    yield* move(yield* movedByPiece.all(id), now)
  }

  return {
    markUnreconciled,
    restateDealsOf,

    putPieces,
    putPiece,

    /** The same for the CAR of an object. */
    *putCar({ pieceRoot, sizeBytes, object, rootCid, profile }: FoundCar, now: number): Steps<number> {
      const id = yield* putPiece({ pieceRoot, sizeBytes, object, offsetBytes: 0 }, now)
      yield* setCar.run({ id, object, rootCid, profile })
      return id
    },

    /**
     * Call after any change of a piece's copies: its open deals get the status that follows from them.
     *
     * @param failure - why no prover is left to ask, or null when one is asked again; what was last said when it is undefined.
     */
    *restate(id: number, now: number, failure?: string | null): Steps<void> {
      const before = yield* statusOfPiece.get(id)
      if (before === undefined) return
      const newFailure = failure === undefined ? before.failure : failure
      const status = statusOf(before, newFailure)
      const isShort = before.held < before.wanted ? 1 : 0
      if (status === before.status && newFailure === before.failure && isShort === before.is_short) return
      yield* setStatus.run({ id, status, failure: newFailure, isShort })
      if (status !== before.status || status === 'failed') yield* restateDealsOf(id, now)
    },

    /** Call after deals got their pieces. */
    *restateDeals(files: readonly number[], now: number): Steps<void> {
      yield* move(yield* movedByFile.all(files), now)
    },
  }
}

function statusOf({ proved, held }: StatusOfPiece, failure: string | null): PlacedStatus {
  if (proved > 0) return 'active'
  if (failure !== null) return 'failed'
  return held > 0 ? 'proposed' : 'staged'
}

function headOf(pieceRoot: string): Buffer {
  return Buffer.from(pieceRoot.slice(0, 2 * HEAD_BYTES), 'hex')
}

function keyOf(pieceRoot: string, sizeBytes: number): string {
  return `${pieceRoot} ${sizeBytes}`
}
