import type { Enrolment, NewAggregate, NewCar, NewPiece, ObjectHandle, Placement, Visibility } from '../record-store.ts'
import { type PlacedMember, prepareMemberInsert } from './aggregate-members.ts'
import { prepareContentReads } from './content-reads.ts'
import { prepareDealClosing } from './deal-closing.ts'
import { prepareForMany, prepareForRows } from './many.ts'
import { prepareNamedObjects } from './named-objects.ts'
import { preparePieceWrites } from './piece-writes.ts'
import { mapEach, type Sql, type SqlValue, type Steps } from './sql.ts'
import { isTouchedByTakedown } from './takedown-reads.ts'

export type DealWrites = ReturnType<typeof prepareDealWrites>

/** A deal with what carries it, in order. */
interface CarriedDeal {
  readonly file: number
  readonly pieces: readonly (NewPiece | NewAggregate)[]
}

const NO_FILE = 0
const NO_OBJECT = 0
/** The pieces with the file's own bytes have the positions from 0 on. */
const CAR_POSITION = -1

/** Deals of files. Each function runs inside the caller's transaction. */
export function prepareDealWrites(db: Sql) {
  const content = prepareContentReads(db)
  const { putCar, putPieces, restate, restateDeals } = preparePieceWrites(db)
  const { objectsOfHandles } = prepareNamedObjects(db)
  const { closeDeals, markPiecesUnreconciled } = prepareDealClosing(db)
  const insertDeals = prepareForRows<{ readonly file: number }>(
    db,
    "(?, ?, 'staged', ?, ?)",
    (rows) => `INSERT INTO deals (file, copies_wanted, status, status_at, waits) VALUES ${rows}
       ON CONFLICT DO NOTHING RETURNING file`,
  )
  const insertDealPieces = prepareForRows(
    db,
    '(?, ?, ?, ?, ?, ?)',
    (rows) =>
      `INSERT INTO deal_pieces (file, position, piece, object, offset_bytes, padded_offset_bytes) VALUES ${rows}`,
  )
  const { putMembers } = prepareMemberInsert(db)
  const insertParked = db.prepare<[{ piece: number; prover: string; now: number }]>(
    `INSERT INTO copies (piece, prover, state, attempts, next_at, parked_at, to_remove, onchain)
     VALUES (:piece, :prover, 'parked', 0, :now, :now, 0, 0) ON CONFLICT DO NOTHING`,
  )
  const parkPending = db.prepare<[{ piece: number; prover: string; now: number }]>(
    `UPDATE copies SET state = 'parked', attempts = 0, next_at = :now, parked_at = :now
     WHERE piece = :piece AND prover = :prover AND ended_at IS NULL AND state = 'pending'`,
  )
  const visibilitiesOfLive = prepareForMany<number, { readonly sequence: number; readonly visibility: Visibility }>(
    db,
    NO_FILE,
    (files) =>
      `SELECT sequence, CASE WHEN ${isTouchedByTakedown('files.object')} THEN 'private' ELSE visibility END AS visibility
       FROM files WHERE ended_at IS NULL AND expires_at > ? AND sequence IN (${files})`,
  )
  const forgetReenrolments = prepareForMany<number, { readonly file: number }>(
    db,
    NO_FILE,
    (files) => `DELETE FROM reenrolments WHERE file IN (${files}) RETURNING file`,
  )
  const IS_BARE = 'waits = 0 AND NOT EXISTS (SELECT 1 FROM deal_pieces WHERE deal_pieces.file = deals.file)'
  // Closed first, so that it is not counted any more.
  const closeBare = prepareForMany<number>(
    db,
    NO_FILE,
    (files) => `UPDATE deals SET closed_at = ? WHERE closed_at IS NULL AND ${IS_BARE} AND file IN (${files})`,
  )
  const deleteBare = prepareForMany<number>(
    db,
    NO_FILE,
    (files) => `DELETE FROM deals WHERE closed_at IS NOT NULL AND ${IS_BARE} AND file IN (${files})`,
  )
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
  const setCarChecked = prepareForMany<number>(
    db,
    NO_FILE,
    (files) => `UPDATE deals SET car_checked = 1 WHERE file IN (${files})`,
  )
  const setWanted = db.prepare<[number, number]>(
    'UPDATE deals SET copies_wanted = ? WHERE file = ? AND closed_at IS NULL',
  )

  /** What is known of these files as far as they are live: those that are taken down are as private ones. */
  function* visibilitiesOf(files: readonly number[], now: number): Steps<Map<number, Visibility>> {
    const rows = yield* visibilitiesOfLive.all(files, now)
    return new Map(rows.map(({ sequence, visibility }) => [sequence, visibility]))
  }

  /** The numbers of these objects, all of which are recorded. */
  function* objectsOf(handles: readonly ObjectHandle[]): Steps<Map<ObjectHandle, number>> {
    const objects = yield* objectsOfHandles(handles)
    for (const handle of handles) {
      if (objects.has(handle)) continue
      // What was called by its piece a moment ago may be called by its digest now.
      const object = yield* content.objectNamedBy(handle)
      if (object === undefined) throw new TypeError('a piece is of bytes that are not recorded')
      objects.set(handle, object)
    }
    return objects
  }

  /** Has deals carried by these pieces; answers the numbers of them all. */
  function* attach(carried: readonly CarriedDeal[], now: number): Steps<number[]> {
    const places = carried.flatMap(({ file, pieces }) => pieces.map((piece, position) => ({ file, position, piece })))
    const objects = yield* objectsOf(places.flatMap(({ piece }) => objectsIn(piece)))
    const objectOf = (handle: ObjectHandle): number => objects.get(handle) ?? NO_OBJECT
    const ids = yield* putPieces(
      places.map(({ piece }) =>
        'members' in piece ? { ...piece, object: null, offsetBytes: 0 } : { ...piece, object: objectOf(piece.object) },
      ),
      now,
    )
    const members: PlacedMember[] = []
    const rows: SqlValue[][] = []
    for (const [index, { file, position, piece }] of places.entries()) {
      const id = ids[index] ?? 0
      if ('members' in piece) {
        for (const { object, paddedOffsetBytes } of piece.members) {
          members.push({ piece: id, paddedOffsetBytes, object: objectOf(object) })
        }
        // The place of the file in it is that of its first member.
        rows.push([file, position, id, null, null, piece.members[0]?.paddedOffsetBytes ?? 0])
      } else rows.push([file, position, id, objectOf(piece.object), piece.offsetBytes, null])
    }
    yield* putMembers(members)
    yield* insertDealPieces.run(rows)
    return ids
  }

  /** True when the prover had no copy, or one that was yet to be sent. */
  function* park(piece: number, prover: string, now: number): Steps<boolean> {
    const copy = { piece, prover, now }
    return (yield* insertParked.run(copy)).changes > 0 || (yield* parkPending.run(copy)).changes > 0
  }

  return {
    *carChecked({ files }: { files: readonly number[] }): Steps<void> {
      yield* setCarChecked.run(files)
    },

    *addCar({ file, copies, now, ...car }: NewCar & { readonly now: number }): Steps<void> {
      const object = yield* objectOfOpen.get(file)
      // The deal of a file that became private is closed, and decided about again when it is open again.
      if (object === undefined || (yield* visibilitiesOf([file], now)).get(file) !== 'public') return
      yield* setCarChecked.run([file])
      const piece = yield* putCar({ ...car, object }, now)
      yield* insertCar.run(file, CAR_POSITION, piece, copies)
    },

    /** Records the deal of a file whose pieces provers have already. */
    *placeFile(file: number, { copiesWanted, pieces, parkedAt }: Placement, now: number): Steps<void> {
      yield* insertDeals.run([[file, copiesWanted, now, 0]])
      for (const piece of new Set(yield* attach([{ file, pieces }], now))) {
        const isParked = yield* mapEach(parkedAt, (prover) => park(piece, prover, now))
        yield* restate(piece, now, isParked.includes(true) ? null : undefined)
      }
      yield* restateDeals([file], now)
    },

    *enrol({ now, upTo, enrolments }: { now: number; upTo: number; enrolments: readonly Enrolment[] }): Steps<void> {
      const files = enrolments.map(({ file }) => file)
      const again = new Set((yield* forgetReenrolments.all(files)).map(({ file }) => file))
      const visibilities = yield* visibilitiesOf(files, now)
      yield* closeDeals(
        files.filter((file) => !visibilities.has(file)),
        now,
      )
      const decidedAgain = files.filter((file) => visibilities.has(file) && again.has(file))
      yield* closeBare.run(decidedAgain, now)
      yield* deleteBare.run(decidedAgain)

      const deals = enrolments
        .filter(({ file }) => visibilities.has(file))
        // It may have become private since the decision.
        .map(({ file, copiesWanted, as }) => {
          const waits = as.kind === 'wait' && visibilities.get(file) === 'public'
          return [file, copiesWanted, now, waits ? 1 : 0]
        })
      const added = new Set((yield* insertDeals.all(deals)).map(({ file }) => file))
      const carried = enrolments.flatMap(({ file, as }): CarriedDeal[] => {
        const isCarried = as.kind === 'pieces' && added.has(file) && visibilities.get(file) === 'public'
        return isCarried ? [{ file, pieces: as.pieces }] : []
      })
      yield* attach(carried, now)
      yield* restateDeals(
        carried.map(({ file }) => file),
        now,
      )
      yield* moveCursor.run(upTo)
    },

    *want({ file, copies, now }: { file: number; copies: number; now: number }): Steps<boolean> {
      if (!(yield* visibilitiesOf([file], now)).has(file)) return false
      const { changes } = yield* setWanted.run(copies, file)
      if (changes === 0) return false
      yield* markPiecesUnreconciled(file, now)
      return true
    },
  }
}

function objectsIn(piece: NewPiece | NewAggregate): ObjectHandle[] {
  return 'members' in piece ? piece.members.map(({ object }) => object) : [piece.object]
}
