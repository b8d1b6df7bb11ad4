import { prepareForMany } from './many.ts'
import type { Sql, Steps } from './sql.ts'

const NO_FILE = 0

/** Ends of deals, which come with the ends of their files. Each function runs inside the caller's transaction. */
export function prepareDealClosing(db: Sql) {
  const close = prepareForMany<number, { readonly file: number }>(
    db,
    NO_FILE,
    (files) => `UPDATE deals SET closed_at = ? WHERE closed_at IS NULL AND file IN (${files}) RETURNING file`,
  )
  const reopen = db.prepare<[number]>('UPDATE deals SET closed_at = NULL WHERE file = ? AND closed_at IS NOT NULL')
  const setUnreconciled = prepareForMany<number>(
    db,
    NO_FILE,
    (files) =>
      `UPDATE pieces SET unsettled_at = ${db.dialect.least('coalesce(unsettled_at, ?)', '?')}, revision = revision + 1
       WHERE id IN (SELECT piece FROM deal_pieces WHERE file IN (${files}))`,
  )

  /** Closes the deals of files that end, as far as they have any, and has their pieces reconciled. */
  function* closeDeals(files: Iterable<number>, now: number): Steps<void> {
    const closed = yield* close.all(files, now)
    yield* setUnreconciled.run(
      closed.map(({ file }) => file),
      now,
      now,
    )
  }

  return {
    closeDeals,

    /** The same for one file. */
    *closeDeal(file: number, now: number): Steps<void> {
      yield* closeDeals([file], now)
    },

    /** Opens the deal of a file that goes on after all. */
    *reopenDeal(file: number, now: number): Steps<void> {
      if ((yield* reopen.run(file)).changes > 0) yield* setUnreconciled.run([file], now, now)
    },

    /** Has the pieces of a file's deal reconciled again. */
    *markPiecesUnreconciled(file: number, now: number): Steps<void> {
      yield* setUnreconciled.run([file], now, now)
    },
  }
}
