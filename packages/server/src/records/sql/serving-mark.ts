import { nothing, type Sql, type Steps } from './sql.ts'

/**
 * Counts a change of what is found under a key. Responses are kept in memory until the count differs; an engine beside which none are kept
 * counts nothing. Changes of other tables than files, and of files that are there, are counted by triggers.
 */
export function prepareServingMark(db: Sql): () => Steps<unknown> {
  const { countServingChange } = db.dialect
  if (countServingChange === undefined) return nothing
  const count = db.prepare<[]>(countServingChange)
  return () => count.run()
}
