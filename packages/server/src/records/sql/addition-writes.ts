import type { AdditionRecord, DataSetContent } from '../record-store.ts'
import { prepareCopyReads } from './copy-reads.ts'
import type { CopyWrites } from './copy-writes.ts'
import { preparePieceWrites } from './piece-writes.ts'
import type { Sql, Steps } from './sql.ts'

export interface OpenAdditionRequest {
  readonly prover: string
  readonly nonce: string
  readonly dataSetId: string | null
  readonly holds?: DataSetContent
  readonly copies: readonly number[]
  readonly now: number
}

interface ConfirmedRequest {
  readonly addition: number
  readonly dataSetId: string
  readonly pieceIds: readonly string[]
  readonly now: number
}

interface RejectedRequest {
  readonly addition: number
  readonly now: number
  readonly nextAt: number
  readonly cause: string | null
}

/** Calls that add copies to data sets. Each function runs inside the caller's transaction. */
export function prepareAdditionWrites(db: Sql, { fail }: CopyWrites) {
  const { addition: additionOf } = prepareCopyReads(db)
  const { restate } = preparePieceWrites(db)
  const insert = db.prepareInsertion<[string, string, string | null, DataSetContent, number]>(
    'id',
    'INSERT INTO additions (prover, nonce, data_set_id, holds, attempts, next_at) VALUES (?, ?, ?, ?, 0, ?)',
  )
  const isParked = db
    .prepare<[number, string], number>("SELECT 1 FROM copies WHERE id = ? AND prover = ? AND state = 'parked'")
    .pluck()
  const insertCopy = db.prepare<[number, number, number]>(
    'INSERT INTO addition_copies (addition, position, copy) VALUES (?, ?, ?)',
  )
  const setAdding = db.prepare<[number]>("UPDATE copies SET state = 'adding' WHERE id = ?")
  const setSent = db.prepare<[string, number, number]>(
    'UPDATE additions SET tx = ?, attempts = 0, next_at = ? WHERE id = ?',
  )
  const delay = db.prepare<[number, number, number]>(
    'UPDATE additions SET attempts = attempts + ?, next_at = ? WHERE id = ?',
  )
  // One that ended meanwhile learns its ids, so that it can be taken out again.
  const setStored = db.prepare<[{ copy: number; dataSetId: string; pieceId: string; now: number }]>(
    `UPDATE copies SET data_set_id = :dataSetId, piece_id = :pieceId, attempts = 0, next_at = :now,
       stored_at = CASE state WHEN 'adding' THEN ${db.dialect.whole(':now')} END,
       state = CASE state WHEN 'adding' THEN 'stored' ELSE state END
     WHERE id = :copy AND (state = 'adding' OR to_remove = 1)`,
  )
  const setRejected = db.prepare<[number, number]>(
    `UPDATE copies SET state = 'pending', attempts = 0, rejections = rejections + 1, next_at = ?
     WHERE id = ? AND state = 'adding'`,
  )
  const setNeverStored = db.prepare<[number]>('UPDATE copies SET to_remove = 0 WHERE id = ?')
  const setDataSet = db.prepare<[string, DataSetContent, string]>(
    `INSERT INTO data_sets (prover, holds, data_set_id) VALUES (?, ?, ?)
     ON CONFLICT (prover, holds) DO UPDATE SET data_set_id = excluded.data_set_id`,
  )
  const removeCopies = db.prepare<[number]>('DELETE FROM addition_copies WHERE addition = ?')
  const remove = db.prepare<[number]>('DELETE FROM additions WHERE id = ?')

  function* close(addition: number): Steps<void> {
    yield* removeCopies.run(addition)
    yield* remove.run(addition)
  }

  return {
    *openAddition(request: OpenAdditionRequest): Steps<AdditionRecord | undefined> {
      const { prover, nonce, dataSetId, holds = 'bytes', now } = request
      const copies: number[] = []
      for (const copy of new Set(request.copies)) {
        if ((yield* isParked.get(copy, prover)) !== undefined) copies.push(copy)
      }
      if (copies.length === 0) return undefined
      const addition = yield* insert(prover, nonce, dataSetId, holds, now)
      for (const [position, copy] of copies.entries()) {
        yield* insertCopy.run(addition, position, copy)
        yield* setAdding.run(copy)
      }
      return yield* additionOf(addition)
    },

    *additionSent(request: { addition: number; transaction: string; nextAt: number }): Steps<void> {
      const { addition, transaction, nextAt } = request
      yield* setSent.run(transaction, nextAt, addition)
    },

    *additionLater(request: { addition: number; nextAt: number; isFailure: boolean }): Steps<void> {
      const { addition, nextAt, isFailure } = request
      yield* delay.run(isFailure ? 1 : 0, nextAt, addition)
    },

    *additionConfirmed({ addition, dataSetId, pieceIds, now }: ConfirmedRequest): Steps<void> {
      const open = yield* additionOf(addition)
      if (open === undefined) return
      if (pieceIds.length !== open.copies.length) throw new TypeError('an addition has one id for each copy')
      for (const [position, { copy }] of open.copies.entries()) {
        yield* setStored.run({ copy: copy.id, dataSetId, pieceId: pieceIds[position] ?? '', now })
        yield* restate(copy.piece, now)
      }
      yield* setDataSet.run(open.prover, open.holds, dataSetId)
      yield* close(addition)
    },

    *additionRejected({ addition, now, nextAt, cause }: RejectedRequest): Steps<number> {
      const open = yield* additionOf(addition)
      if (open === undefined) return 0
      let lost = 0
      for (const { copy } of open.copies) {
        if (copy.endedAt === null && cause === null) {
          yield* setRejected.run(nextAt, copy.id)
          yield* restate(copy.piece, now)
        }
        if (copy.endedAt === null && cause !== null && (yield* fail({ copy: copy.id, cause, now }))) lost += 1
        yield* setNeverStored.run(copy.id)
      }
      yield* close(addition)
      return lost
    },
  }
}
