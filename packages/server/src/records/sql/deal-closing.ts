import type { Sql, Steps } from './sql.ts'

/** Ends of deals, which come with the ends of their files. Runs inside the caller's transaction. */
export function prepareDealClosing(db: Sql) {
  const close = db.prepare<[number, number]>('UPDATE deals SET closed_at = ? WHERE file = ? AND closed_at IS NULL')
  const reopen = db.prepare<[number]>('UPDATE deals SET closed_at = NULL WHERE file = ? AND closed_at IS NOT NULL')
  const setUnreconciled = db.prepare<[{ file: number; now: number }]>(
    `UPDATE pieces SET unsettled_at = ${db.dialect.least('coalesce(unsettled_at, :now)', ':now')}, revision = revision + 1
     WHERE id IN (SELECT piece FROM deal_pieces WHERE file = :file)`,
  )

  return {
    /** Closes the deal of a file that ends, if it has one, and has its pieces reconciled. */
    *closeDeal(file: number, now: number): Steps<void> {
      if ((yield* close.run(now, file)).changes > 0) yield* setUnreconciled.run({ file, now })
    },

    /** Opens the deal of a file that goes on after all. */
    *reopenDeal(file: number, now: number): Steps<void> {
      if ((yield* reopen.run(file)).changes > 0) yield* setUnreconciled.run({ file, now })
    },

    /** Has the pieces of a file's deal reconciled again. */
    *markPiecesUnreconciled(file: number, now: number): Steps<void> {
      yield* setUnreconciled.run({ file, now })
    },
  }
}
