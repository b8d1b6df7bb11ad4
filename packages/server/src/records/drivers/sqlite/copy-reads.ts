import type { AdditionRecord, CopyOfPiece } from '../../record-store.ts'
import type { Connection } from './connection.ts'
import { type CopyRow, copyFromRow } from './copy-row.ts'
import { preparePieceReads } from './piece-reads.ts'

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
export function prepareCopyReads(db: Connection) {
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

  function withPiece(row: CopyRow): CopyOfPiece {
    return { copy: copyFromRow(row), piece: pieces.pieceOfId(row.piece) }
  }

  function additionFromRow(row: AdditionRow): AdditionRecord {
    return {
      id: row.id,
      prover: row.prover,
      nonce: row.nonce,
      dataSetId: row.data_set_id,
      transaction: row.tx,
      attempts: row.attempts,
      nextAt: row.next_at,
      copies: copiesOfAddition.all(row.id).map(withPiece),
    }
  }

  // Several statements see one state of the records, whatever is committed between them.
  const findDue = db.transaction(({ state, now, limit, prover }: DueRequest): CopyOfPiece[] =>
    (prover === undefined ? due.all(state, now, limit) : dueAt.all(prover, state, now, limit)).map(withPiece),
  )
  const findRemovable = db.transaction((now: number, limit: number): CopyOfPiece[] =>
    removable.all(now, limit).map(withPiece),
  )
  const allAdditions = db.transaction((): AdditionRecord[] => additions.all().map(additionFromRow))

  return {
    due: (request: DueRequest): readonly CopyOfPiece[] => findDue(request),
    removable: ({ now, limit }: { now: number; limit: number }): readonly CopyOfPiece[] => findRemovable(now, limit),
    additions: (): readonly AdditionRecord[] => allAdditions(),

    /** Undefined when it is not under way any more. */
    addition(id: number): AdditionRecord | undefined {
      const row = addition.get(id)
      return row === undefined ? undefined : additionFromRow(row)
    },

    dataSetOf: (prover: string): string | undefined => dataSetOf.get(prover),
  }
}
