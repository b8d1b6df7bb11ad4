import type { AdditionRecord, CopyOfPiece, DataSetContent, DueCopy } from '../record-store.ts'
import { type CopyRow, copyFromRow } from './copy-row.ts'
import { preparePieceReads } from './piece-reads.ts'
import { mapEach, type Sql, type Steps } from './sql.ts'

export interface DueRequest {
  readonly state: 'pending' | 'parked' | 'stored'
  readonly now: number
  readonly limit: number
  readonly prover?: string
  readonly holds?: DataSetContent
}

interface DueRow extends CopyRow {
  readonly revision: number
}

const DUE_COLUMNS = 'copies.*, (SELECT revision FROM pieces WHERE pieces.id = copies.piece) AS revision'

interface WaitingRow {
  readonly prover: string
  readonly copy: number
}

const WAITING = ['pending', 'parked', 'adding'] as const
/** So many copies of a prover in a state are looked at to find the oldest: a metric must not cost more than a few milliseconds. */
const MAX_LOOKED_AT = 10_000

interface AdditionRow {
  readonly id: number
  readonly prover: string
  readonly nonce: string
  readonly data_set_id: string | null
  readonly holds: DataSetContent
  readonly tx: string | null
  readonly attempts: number
  readonly next_at: number
}

/** Reads of copies that something is to be done about, and of additions under way. */
export function prepareCopyReads(db: Sql) {
  const pieces = preparePieceReads(db)
  const due = db.prepare<[string, number, number], DueRow>(
    `SELECT ${DUE_COLUMNS} FROM copies WHERE state = ? AND next_at <= ? AND ended_at IS NULL ORDER BY next_at, id LIMIT ?`,
  )
  const dueAt = db.prepare<[string, string, number, number], DueRow>(
    `SELECT ${DUE_COLUMNS} FROM copies WHERE prover = ? AND state = ? AND next_at <= ? ORDER BY next_at, id LIMIT ?`,
  )
  const IS_CAR = 'EXISTS (SELECT 1 FROM pieces WHERE pieces.id = copies.piece AND car_root IS NOT NULL)'
  const dueBytesAt = db.prepare<[string, string, number, number], DueRow>(
    `SELECT ${DUE_COLUMNS} FROM copies WHERE prover = ? AND state = ? AND next_at <= ? AND NOT ${IS_CAR} ORDER BY next_at, id LIMIT ?`,
  )
  const dueCarsAt = db.prepare<[string, string, number, number], DueRow>(
    `SELECT ${DUE_COLUMNS} FROM copies WHERE prover = ? AND state = ? AND next_at <= ? AND ${IS_CAR} ORDER BY next_at, id LIMIT ?`,
  )
  const removable = db.prepare<[number, number], CopyRow>(
    `SELECT * FROM copies WHERE to_remove = 1 AND piece_id IS NOT NULL AND next_at <= ? ORDER BY next_at, id LIMIT ?`,
  )
  const additions = db.prepare<[], AdditionRow>('SELECT * FROM additions ORDER BY id')
  const addition = db.prepare<[number], AdditionRow>('SELECT * FROM additions WHERE id = ?')
  const copiesOfAddition = db.prepare<[number], CopyRow>(
    `SELECT copies.* FROM addition_copies JOIN copies ON copies.id = addition_copies.copy
     WHERE addition = ? ORDER BY position`,
  )
  const waitingProvers = db
    .prepare<[string], string>('SELECT prover FROM copy_counts WHERE state = ? GROUP BY prover HAVING SUM(count) > 0')
    .pluck()
  const oldestOf = db
    .prepare<[string, string], number | null>(
      `SELECT MIN(id) FROM (SELECT id FROM copies WHERE prover = ? AND state = ?
         ORDER BY next_at, id LIMIT ${MAX_LOOKED_AT}) AS first`,
    )
    .pluck()
  const dataSetOf = db
    .prepare<[string, DataSetContent], string>('SELECT data_set_id FROM data_sets WHERE prover = ? AND holds = ?')
    .pluck()

  function* withPiece(row: CopyRow): Steps<CopyOfPiece> {
    return { copy: copyFromRow(row), piece: yield* pieces.pieceOfId(row.piece) }
  }

  function* additionFromRow(row: AdditionRow): Steps<AdditionRecord> {
    return {
      id: row.id,
      prover: row.prover,
      nonce: row.nonce,
      dataSetId: row.data_set_id,
      holds: row.holds,
      transaction: row.tx,
      attempts: row.attempts,
      nextAt: row.next_at,
      copies: yield* mapEach(yield* copiesOfAddition.all(row.id), withPiece),
    }
  }

  return {
    *due({ state, now, limit, prover, holds }: DueRequest): Steps<readonly DueCopy[]> {
      const at = holds === undefined ? dueAt : holds === 'cars' ? dueCarsAt : dueBytesAt
      const rows = yield* prover === undefined ? due.all(state, now, limit) : at.all(prover, state, now, limit)
      return yield* mapEach(rows, function* (row) {
        return { ...(yield* withPiece(row)), revision: row.revision }
      })
    },

    *removable({ now, limit }: { now: number; limit: number }): Steps<readonly CopyOfPiece[]> {
      return yield* mapEach(yield* removable.all(now, limit), withPiece)
    },

    *additions(): Steps<readonly AdditionRecord[]> {
      return yield* mapEach(yield* additions.all(), additionFromRow)
    },

    /** Undefined when it is not under way any more. */
    *addition(id: number): Steps<AdditionRecord | undefined> {
      const row = yield* addition.get(id)
      return row === undefined ? undefined : yield* additionFromRow(row)
    },

    /** Needs one state of the records for all its statements. */
    *oldestWaiting(): Steps<readonly WaitingRow[]> {
      const oldest = new Map<string, number>()
      for (const state of WAITING) {
        for (const prover of yield* waitingProvers.all(state)) {
          const copy = (yield* oldestOf.get(prover, state)) ?? Number.POSITIVE_INFINITY
          oldest.set(prover, Math.min(copy, oldest.get(prover) ?? Number.POSITIVE_INFINITY))
        }
      }
      return [...oldest].filter(([, copy]) => Number.isFinite(copy)).map(([prover, copy]) => ({ prover, copy }))
    },

    dataSetOf: ({ prover, holds }: { prover: string; holds: DataSetContent }): Steps<string | undefined> =>
      dataSetOf.get(prover, holds),
  }
}
