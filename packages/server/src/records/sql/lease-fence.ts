import type { Fence } from '../record-store.ts'
import type { Sql, Steps } from './sql.ts'

/** Refuses writes of a process whose lease another process has taken since. Runs inside the transaction of the write. */
export function prepareLeaseFence(db: Sql) {
  const fenceOf = db.prepare<[string], number>('SELECT fence FROM leases WHERE name = ?').pluck()

  return {
    /** @throws {Error} if another process has taken the lease. */
    *require({ name, number }: Fence): Steps<void> {
      if ((yield* fenceOf.get(name)) === number) return
      throw new Error(`Another process has taken over the lease ${name || '(none)'}.`)
    },
  }
}
