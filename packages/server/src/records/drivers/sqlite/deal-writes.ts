import type { Enrolment, NewPiece, Placement } from '../../record-store.ts'
import type { Connection } from './connection.ts'
import { prepareContentReads } from './content-reads.ts'
import { prepareDealClosing } from './deal-closing.ts'
import { preparePieceWrites } from './piece-writes.ts'

export type DealWrites = ReturnType<typeof prepareDealWrites>

/** Deals of files. Each function runs inside one transaction that the writer opens. */
export function prepareDealWrites(db: Connection) {
  const content = prepareContentReads(db)
  const { putPiece, restate, restateDeal } = preparePieceWrites(db)
  const { unsettlePiecesOf } = prepareDealClosing(db)
  const insertDeal = db.prepare<[number, number, number, number]>(
    `INSERT INTO deals (file, copies_wanted, status, status_at, waits) VALUES (?, ?, 'staged', ?, ?)
     ON CONFLICT DO NOTHING`,
  )
  const insertDealPiece = db.prepare<[number, number, number, number, number]>(
    'INSERT INTO deal_pieces (file, position, piece, object, offset_bytes) VALUES (?, ?, ?, ?, ?)',
  )
  const insertParked = db.prepare<[{ piece: number; prover: string; now: number }]>(
    `INSERT INTO copies (piece, prover, state, attempts, next_at, parked_at, to_remove, onchain)
     VALUES (:piece, :prover, 'parked', 0, :now, :now, 0, 0) ON CONFLICT DO NOTHING`,
  )
  const parkPending = db.prepare<[{ piece: number; prover: string; now: number }]>(
    `UPDATE copies SET state = 'parked', attempts = 0, next_at = :now, parked_at = :now
     WHERE piece = :piece AND prover = :prover AND ended_at IS NULL AND state = 'pending'`,
  )
  const isLive = db
    .prepare<[number, number], number>('SELECT 1 FROM files WHERE sequence = ? AND ended_at IS NULL AND expires_at > ?')
    .pluck()
  const moveCursor = db.prepare<[number]>(
    `INSERT INTO cursors (name, value) VALUES ('enrolled', ?)
     ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)`,
  )
  const setWanted = db.prepare<[number, number]>(
    'UPDATE deals SET copies_wanted = ? WHERE file = ? AND closed_at IS NULL',
  )
  const setTerm = db.prepare<[{ file: number; expiresAt: number; termDays: number }]>(
    'UPDATE files SET expires_at = :expiresAt, term_days = :termDays WHERE sequence = :file AND expires_at < :expiresAt',
  )

  /** Has a deal carried by these pieces; answers their numbers. */
  function attach(file: number, pieces: readonly NewPiece[], now: number): number[] {
    return pieces.map((piece, position) => {
      const { object: handle, offsetBytes } = piece
      // What was called by its piece a moment ago may be called by its digest now.
      const object = content.objectOfHandle(handle) ?? content.objectNamedBy(handle)
      if (object === undefined) throw new TypeError('a piece is of bytes that are not recorded')
      const id = putPiece({ ...piece, object }, now)
      insertDealPiece.run(file, position, id, object, offsetBytes)
      return id
    })
  }

  /** True when the prover had no copy, or one that was yet to be sent. */
  function park(piece: number, prover: string, now: number): boolean {
    const copy = { piece, prover, now }
    return insertParked.run(copy).changes > 0 || parkPending.run(copy).changes > 0
  }

  return {
    /** Records the deal of a file whose pieces provers have already. */
    placeFile(file: number, { copiesWanted, pieces, parkedAt }: Placement, now: number): void {
      insertDeal.run(file, copiesWanted, now, 0)
      for (const piece of new Set(attach(file, pieces, now))) {
        const parked = parkedAt.filter((prover) => park(piece, prover, now))
        restate(piece, now, parked.length > 0 ? null : undefined)
      }
      restateDeal(file, now)
    },

    enrol({ now, upTo, enrolments }: { now: number; upTo: number; enrolments: readonly Enrolment[] }): void {
      for (const { file, copiesWanted, as } of enrolments) {
        if (isLive.get(file, now) === undefined) continue
        const { changes } = insertDeal.run(file, copiesWanted, now, as.kind === 'wait' ? 1 : 0)
        if (changes === 0 || as.kind !== 'pieces') continue
        attach(file, as.pieces, now)
        restateDeal(file, now)
      }
      moveCursor.run(upTo)
    },

    want({ file, copies, now }: { file: number; copies: number; now: number }): boolean {
      if (isLive.get(file, now) === undefined || setWanted.run(copies, file).changes === 0) return false
      unsettlePiecesOf(file, now)
      return true
    },

    extend(request: { file: number; now: number; expiresAt: number; termDays: number }): boolean {
      const { file, now, expiresAt, termDays } = request
      if (isLive.get(file, now) === undefined) return false
      const { changes } = setTerm.run({ file, expiresAt, termDays })
      if (changes > 0) unsettlePiecesOf(file, now)
      return true
    },
  }
}
