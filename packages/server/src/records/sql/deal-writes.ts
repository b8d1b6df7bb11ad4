import type { Enrolment, NewAggregate, NewCar, NewPiece, Placement, Visibility } from '../record-store.ts'
import { prepareMemberInsert } from './aggregate-members.ts'
import { prepareContentReads } from './content-reads.ts'
import { prepareDealClosing } from './deal-closing.ts'
import { preparePieceWrites } from './piece-writes.ts'
import { mapEach, type Sql, type Steps } from './sql.ts'
import { isTouchedByTakedown } from './takedown-reads.ts'

export type DealWrites = ReturnType<typeof prepareDealWrites>

/** The pieces with the file's own bytes have the positions from 0 on. */
const CAR_POSITION = -1

/** Deals of files. Each function runs inside the caller's transaction. */
export function prepareDealWrites(db: Sql) {
  const content = prepareContentReads(db)
  const { putCar, putPiece, restate, restateDeal } = preparePieceWrites(db)
  const { closeDeal, markPiecesUnreconciled } = prepareDealClosing(db)
  const insertDeal = db.prepare<[number, number, number, number]>(
    `INSERT INTO deals (file, copies_wanted, status, status_at, waits) VALUES (?, ?, 'staged', ?, ?)
     ON CONFLICT DO NOTHING`,
  )
  const insertDealPiece = db.prepare<[number, number, number, number, number]>(
    'INSERT INTO deal_pieces (file, position, piece, object, offset_bytes) VALUES (?, ?, ?, ?, ?)',
  )
  const insertAggregated = db.prepare<[number, number, number, number]>(
    'INSERT INTO deal_pieces (file, position, piece, padded_offset_bytes) VALUES (?, ?, ?, ?)',
  )
  const insertMember = prepareMemberInsert(db)
  const insertParked = db.prepare<[{ piece: number; prover: string; now: number }]>(
    `INSERT INTO copies (piece, prover, state, attempts, next_at, parked_at, to_remove, onchain)
     VALUES (:piece, :prover, 'parked', 0, :now, :now, 0, 0) ON CONFLICT DO NOTHING`,
  )
  const parkPending = db.prepare<[{ piece: number; prover: string; now: number }]>(
    `UPDATE copies SET state = 'parked', attempts = 0, next_at = :now, parked_at = :now
     WHERE piece = :piece AND prover = :prover AND ended_at IS NULL AND state = 'pending'`,
  )
  const visibilityOfLive = db
    .prepare<[number, number], Visibility>(
      `SELECT CASE WHEN ${isTouchedByTakedown('files.object')} THEN 'private' ELSE visibility END
       FROM files WHERE sequence = ? AND ended_at IS NULL AND expires_at > ?`,
    )
    .pluck()
  const forgetReenrolment = db.prepare<[number]>('DELETE FROM reenrolments WHERE file = ?')
  const IS_BARE = 'waits = 0 AND NOT EXISTS (SELECT 1 FROM deal_pieces WHERE deal_pieces.file = deals.file)'
  // Closed first, so that it is not counted any more.
  const closeBare = db.prepare<[number, number]>(
    `UPDATE deals SET closed_at = ? WHERE file = ? AND closed_at IS NULL AND ${IS_BARE}`,
  )
  const deleteBare = db.prepare<[number]>(`DELETE FROM deals WHERE file = ? AND closed_at IS NOT NULL AND ${IS_BARE}`)
  const moveCursor = db.prepare<[number]>(
    `INSERT INTO cursors (name, value) VALUES ('enrolled', ?)
     ON CONFLICT (name) DO UPDATE SET value = ${db.dialect.greatest('cursors.value', 'excluded.value')}`,
  )
  const objectOfOpen = db
    .prepare<[number], number>(
      'SELECT object FROM deals JOIN files ON sequence = deals.file WHERE deals.file = ? AND closed_at IS NULL',
    )
    .pluck()
  const insertCar = db.prepare<[number, number, number, number]>(
    `INSERT INTO deal_pieces (file, position, piece, car_copies) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  )
  const setCarChecked = db.prepare<[number]>('UPDATE deals SET car_checked = 1 WHERE file = ?')
  const setWanted = db.prepare<[number, number]>(
    'UPDATE deals SET copies_wanted = ? WHERE file = ? AND closed_at IS NULL',
  )

  /** Has a deal carried by these pieces; answers their numbers. */
  function* attach(file: number, pieces: readonly (NewPiece | NewAggregate)[], now: number): Steps<number[]> {
    const ids: number[] = []
    for (const [position, piece] of pieces.entries()) {
      if ('members' in piece) {
        ids.push(yield* attachAggregate(file, position, piece, now))
        continue
      }
      const { object: handle, offsetBytes } = piece
      // What was called by its piece a moment ago may be called by its digest now.
      const object = (yield* content.objectOfHandle(handle)) ?? (yield* content.objectNamedBy(handle))
      if (object === undefined) throw new TypeError('a piece is of bytes that are not recorded')
      const id = yield* putPiece({ ...piece, object }, now)
      yield* insertDealPiece.run(file, position, id, object, offsetBytes)
      ids.push(id)
    }
    return ids
  }

  /** The place of the file in it is that of its first member. */
  function* attachAggregate(file: number, position: number, aggregate: NewAggregate, now: number): Steps<number> {
    const { pieceRoot, sizeBytes, members } = aggregate
    const id = yield* putPiece({ pieceRoot, sizeBytes, object: null, offsetBytes: 0 }, now)
    for (const { object: handle, paddedOffsetBytes } of members) {
      const object = yield* content.objectOfHandle(handle)
      if (object === undefined) throw new TypeError('an aggregate is of bytes that are not recorded')
      yield* insertMember.run(id, paddedOffsetBytes, object)
    }
    yield* insertAggregated.run(file, position, id, members[0]?.paddedOffsetBytes ?? 0)
    return id
  }

  /** True when the prover had no copy, or one that was yet to be sent. */
  function* park(piece: number, prover: string, now: number): Steps<boolean> {
    const copy = { piece, prover, now }
    return (yield* insertParked.run(copy)).changes > 0 || (yield* parkPending.run(copy)).changes > 0
  }

  return {
    *carChecked({ files }: { files: readonly number[] }): Steps<void> {
      for (const file of files) yield* setCarChecked.run(file)
    },

    *addCar({ file, copies, now, ...car }: NewCar & { readonly now: number }): Steps<void> {
      const object = yield* objectOfOpen.get(file)
      // The deal of a file that became private is closed, and decided about again when it is open again.
      if (object === undefined || (yield* visibilityOfLive.get(file, now)) !== 'public') return
      yield* setCarChecked.run(file)
      const piece = yield* putCar({ ...car, object }, now)
      yield* insertCar.run(file, CAR_POSITION, piece, copies)
    },

    /** Records the deal of a file whose pieces provers have already. */
    *placeFile(file: number, { copiesWanted, pieces, parkedAt }: Placement, now: number): Steps<void> {
      yield* insertDeal.run(file, copiesWanted, now, 0)
      for (const piece of new Set(yield* attach(file, pieces, now))) {
        const isParked = yield* mapEach(parkedAt, (prover) => park(piece, prover, now))
        yield* restate(piece, now, isParked.includes(true) ? null : undefined)
      }
      yield* restateDeal(file, now)
    },

    *enrol({ now, upTo, enrolments }: { now: number; upTo: number; enrolments: readonly Enrolment[] }): Steps<void> {
      for (const { file, copiesWanted, as } of enrolments) {
        const isAgain = (yield* forgetReenrolment.run(file)).changes > 0
        const visibility = yield* visibilityOfLive.get(file, now)
        if (visibility === undefined) {
          yield* closeDeal(file, now)
          continue
        }
        if (isAgain) {
          yield* closeBare.run(now, file)
          yield* deleteBare.run(file)
        }
        // It may have become private since the decision.
        const waits = as.kind === 'wait' && visibility === 'public'
        const { changes } = yield* insertDeal.run(file, copiesWanted, now, waits ? 1 : 0)
        if (changes === 0 || as.kind !== 'pieces' || visibility === 'private') continue
        yield* attach(file, as.pieces, now)
        yield* restateDeal(file, now)
      }
      yield* moveCursor.run(upTo)
    },

    *want({ file, copies, now }: { file: number; copies: number; now: number }): Steps<boolean> {
      if ((yield* visibilityOfLive.get(file, now)) === undefined) return false
      const { changes } = yield* setWanted.run(copies, file)
      if (changes === 0) return false
      yield* markPiecesUnreconciled(file, now)
      return true
    },
  }
}
