import type { AdditionRecord, CopyOfPiece } from '../record-store.ts'
import { type CopyRow, copyFromRow } from './copy-row.ts'
import { preparePieceReads } from './piece-reads.ts'
import { mapEach, type Sql, type Steps } from './sql.ts'

export interface DueRequest {
  readonly state: 'pending' | 'parked' | 'stored'
  readonly now: number
  readonly limit: number
  readonly prover?: string
}

interface AdditionRow {
  readonly id: number
  readonly prover: string
  readonly nonce: string
  readonly data_set_id: string | null
  readonly tx: string | null
  readonly attempts: number
  readonly next_at: number
}

/** Reads of copies that something is to be done about, and of additions under way. */
export function prepareCopyReads(db: Sql) {
  const pieces = preparePieceReads(db)
  const due = db.prepare<[string, number, number], CopyRow>(
    'SELECT * FROM copies WHERE state = ? AND next_at <= ? AND ended_at IS NULL ORDER BY next_at, id LIMIT ?',
  )
  const dueAt = db.prepare<[string, string, number, number], CopyRow>(
    'SELECT * FROM copies WHERE prover = ? AND state = ? AND next_at <= ? ORDER BY next_at, id LIMIT ?',
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
  const dataSetOf = db.prepare<[string], string>('SELECT data_set_id FROM data_sets WHERE prover = ?').pluck()

  function* withPiece(row: CopyRow): Steps<CopyOfPiece> {
    return { copy: copyFromRow(row), piece: yield* pieces.pieceOfId(row.piece) }
  }

  function* additionFromRow(row: AdditionRow): Steps<AdditionRecord> {
    return {
      id: row.id,
      prover: row.prover,
      nonce: row.nonce,
      dataSetId: row.data_set_id,
      transaction: row.tx,
      attempts: row.attempts,
      nextAt: row.next_at,
      copies: yield* mapEach(yield* copiesOfAddition.all(row.id), withPiece),
    }
  }

  return {
    *due({ state, now, limit, prover }: DueRequest): Steps<readonly CopyOfPiece[]> {
      const rows = yield* prover === undefined ? due.all(state, now, limit) : dueAt.all(prover, state, now, limit)
      return yield* mapEach(rows, withPiece)
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

    dataSetOf: (prover: string): Steps<string | undefined> => dataSetOf.get(prover),
  }
}
