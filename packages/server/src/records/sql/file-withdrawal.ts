import { prepareDealClosing } from './deal-closing.ts'
import { preparePieceWrites } from './piece-writes.ts'
import type { Sql, Steps } from './sql.ts'
import { isTouchedByTakedown } from './takedown-reads.ts'

export type FileWithdrawal = ReturnType<typeof prepareFileWithdrawal>

/** Files that provers are not to have any more, or again. Each function runs inside the caller's transaction. */
export function prepareFileWithdrawal(db: Sql) {
  const { closeDeal, reopenDeal } = prepareDealClosing(db)
  const { restateDeals } = preparePieceWrites(db)
  const restage = db.prepare<[number, number]>(
    "UPDATE deals SET status = 'staged', status_at = ?, cause = NULL WHERE file = ?",
  )
  const carriedDeal = db
    .prepare<[number], number>(
      `SELECT 1 FROM deals WHERE file = ?
         AND (waits = 1 OR EXISTS (SELECT 1 FROM deal_pieces WHERE deal_pieces.file = deals.file AND car_copies IS NULL))`,
    )
    .pluck()
  const enrolAgain = db.prepare<[number]>('INSERT INTO reenrolments (file) VALUES (?) ON CONFLICT DO NOTHING')
  const isForbidden = db
    .prepare<[number], number>(`SELECT 1 FROM files WHERE sequence = ? AND ${isTouchedByTakedown('files.object')}`)
    .pluck()

  return {
    /** Provers release their copies. */
    *withdraw(file: number, now: number): Steps<void> {
      yield* closeDeal(file, now)
      yield* restage.run(now, file)
    },

    /** Provers get the file, as they had it before or as it is decided now; not one that is taken down. */
    *offer(file: number, now: number): Steps<void> {
      if ((yield* isForbidden.get(file)) !== undefined) return
      if ((yield* carriedDeal.get(file)) === undefined) {
        yield* enrolAgain.run(file)
        return
      }
      yield* reopenDeal(file, now)
      yield* restateDeals([file], now)
    },
  }
}
