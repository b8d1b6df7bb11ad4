import type { PlacedStatus } from '../record-store.ts'
import { preparePieceReads } from './piece-reads.ts'
import type { Sql, Steps } from './sql.ts'

/** A piece to be recorded, with the number of the object that has its bytes; an aggregate has none. */
interface FoundPiece {
  readonly pieceRoot: string
  readonly sizeBytes: number
  readonly object: number | null
  readonly offsetBytes: number
}

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
  const { pieceOfRoot } = preparePieceReads(db)
  const insert = db
    .prepare<[number | null, number, number, Buffer], number>(
      `INSERT INTO pieces (object, offset_bytes, size_bytes, piece_root, revision, wanted, is_short, status)
       VALUES (?, ?, ?, ?, 0, 0, 0, 'staged') RETURNING id`,
    )
    .pluck()
  const findBytes = db.prepare<[{ id: number; object: number | null; offsetBytes: number }]>(
    'UPDATE pieces SET object = :object, offset_bytes = :offsetBytes WHERE id = :id AND object IS NULL',
  )
  const setCar = db.prepare<[{ id: number; object: number; rootCid: string; profile: string }]>(
    `UPDATE pieces SET object = :object, car_root = :rootCid, car_layout = :profile
     WHERE id = :id AND (object IS NULL OR object = :object OR car_root IS NOT NULL)`,
  )
  const setUnreconciled = db.prepare<[{ id: number; now: number }]>(
    `UPDATE pieces SET unsettled_at = ${db.dialect.least('coalesce(unsettled_at, :now)', ':now')},
       revision = revision + 1 WHERE id = :id`,
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
  const movedByFile = db.prepare<[number], MovedDeal>(movedDeals('= ?'))
  const moveDeal = db.prepare<[{ file: number; newStatus: PlacedStatus; newCause: string | null; now: number }]>(
    `UPDATE deals SET status_at = CASE status WHEN :newStatus THEN status_at ELSE :now END,
       status = :newStatus, cause = :newCause WHERE file = :file`,
  )

  /** Has the piece reconciled, now at the latest. */
  function* markUnreconciled(id: number, now: number): Steps<void> {
    yield* setUnreconciled.run({ id, now })
  }

  /** The number of this piece, which is unreconciled now. It keeps the object that it was first found in. */
  function* putPiece({ pieceRoot, sizeBytes, object, offsetBytes }: FoundPiece, now: number): Steps<number> {
    const known = yield* pieceOfRoot(pieceRoot, sizeBytes)
    if (known !== undefined) yield* findBytes.run({ id: known, object, offsetBytes })
    const id = known ?? Number(yield* insert.get(object, offsetBytes, sizeBytes, Buffer.from(pieceRoot, 'hex')))
    yield* markUnreconciled(id, now)
    return id
  }

  /** Call after a piece got deals. */
  function* restateDealsOf(id: number, now: number): Steps<void> {
    for (const moved of yield* movedByPiece.all(id)) yield* moveDeal.run({ ...moved, now })
  }

  return {
    markUnreconciled,
    restateDealsOf,

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

    /** Call after a deal got its pieces. */
    *restateDeal(file: number, now: number): Steps<void> {
      for (const moved of yield* movedByFile.all(file)) yield* moveDeal.run({ ...moved, now })
    },
  }
}

function statusOf({ proved, held }: StatusOfPiece, failure: string | null): PlacedStatus {
  if (proved > 0) return 'active'
  if (failure !== null) return 'failed'
  return held > 0 ? 'proposed' : 'staged'
}
