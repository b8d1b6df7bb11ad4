import { REMOVAL_HOLD } from '../removal-hold.ts'
import type { Sql, Steps } from './sql.ts'

/** Whether bytes are kept that no file needs any more. Each function runs inside the caller's transaction. */
export function prepareRemovalHold(db: Sql) {
  const held = db
    .prepare<[string, number], number>("SELECT 1 FROM leases WHERE name = ? AND holder <> '' AND until > ?")
    .pluck()

  return {
    /** True while somebody has the lease {@link REMOVAL_HOLD}. */
    *isHeld(now: number): Steps<boolean> {
      return (yield* held.get(REMOVAL_HOLD, now)) !== undefined
    },
  }
}
