import type { Fence } from '../record-store.ts'
import type { Sql, Steps } from './sql.ts'

/** No lease lasts longer. One that seems to was taken while the clock was ahead. */
const LONGEST_MS = 86_400_000

/** Which process does the work of all. Each function runs inside the caller's transaction. */
export function prepareLeaseWrites(db: Sql) {
  const take = db.prepare<{ name: string; holder: string; now: number; until: number }, number>(
    `INSERT INTO leases (name, holder, until, fence) VALUES (:name, :holder, :until, 1)
     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until,
       fence = leases.fence + CASE WHEN leases.holder = excluded.holder THEN 0 ELSE 1 END
     WHERE leases.holder = excluded.holder OR leases.until <= :now OR leases.until > :now + ${LONGEST_MS}
     RETURNING fence`,
  )
  // The row stays, since its fence must never be given twice.
  const giveBack = db.prepare<[string, string]>(
    "UPDATE leases SET holder = '', until = 0 WHERE name = ? AND holder = ?",
  )

  return {
    *take(request: { name: string; holder: string; now: number; until: number }): Steps<Fence | undefined> {
      const number = yield* take.pluck().get(request)
      return number === undefined ? undefined : { name: request.name, number }
    },

    *giveBack({ name, holder }: { name: string; holder: string }): Steps<void> {
      yield* giveBack.run(name, holder)
    },
  }
}
