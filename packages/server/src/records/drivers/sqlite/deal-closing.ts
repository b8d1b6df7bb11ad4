import type { Connection } from './connection.ts'

export type DealClosing = ReturnType<typeof prepareDealClosing>

/** Ends of deals, which come with the ends of their files. Runs inside the caller's transaction. */
export function prepareDealClosing(db: Connection) {
  const close = db.prepare<[number, number]>('UPDATE deals SET closed_at = ? WHERE file = ? AND closed_at IS NULL')
  const unsettle = db.prepare<[{ file: number; now: number }]>(
    `UPDATE pieces SET unsettled_at = min(coalesce(unsettled_at, :now), :now), revision = revision + 1
     WHERE id IN (SELECT piece FROM deal_pieces WHERE file = :file)`,
  )

  return {
    /** Closes the deal of a file that ends, if it has one, and has its pieces settled. */
    closeDeal(file: number, now: number): void {
      if (close.run(now, file).changes > 0) unsettle.run({ file, now })
    },

    /** Has the pieces of a file's deal settled again. */
    unsettlePiecesOf: (file: number, now: number): void => void unsettle.run({ file, now }),
  }
}
