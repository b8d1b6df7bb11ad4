import { prepareDealClosing } from './deal-closing.ts'
import { prepareForMany } from './many.ts'
import type { Sql, Steps } from './sql.ts'
import { type EndedFile, prepareUsageWrites } from './usage-writes.ts'

/** A file that is past its term. */
export interface ExpiredFile extends EndedFile {
  readonly sequence: number
}

const NO_FILE = 0

/** Ends of files whose term is over. Runs inside the caller's transaction. */
export function prepareFileExpiry(db: Sql) {
  const { closeDeals } = prepareDealClosing(db)
  const { filesEnded } = prepareUsageWrites(db)
  const endAsExpired = prepareForMany<number>(
    db,
    NO_FILE,
    (files) => `UPDATE files SET ended_at = expires_at, "end" = 'expired' WHERE sequence IN (${files})`,
  )

  return {
    /** Ends files that have not ended, each at the end of its term; what becomes of their bytes is for the caller to decide. */
    *endAsExpired(files: readonly ExpiredFile[], now: number): Steps<void> {
      const sequences = files.map(({ sequence }) => sequence)
      yield* endAsExpired.run(sequences)
      yield* filesEnded(files)
      yield* closeDeals(sequences, now)
    },
  }
}
