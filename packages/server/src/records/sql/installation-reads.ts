import type { InstallationRecord } from '../installation-records.ts'
import type { Sql, Steps } from './sql.ts'

interface InstallationRow {
  readonly id: string
  readonly isPaired: number
  readonly progress: number
}

/** Which installation these records are of. */
export function prepareInstallationReads(db: Sql) {
  const row = db.prepare<[], InstallationRow>(
    'SELECT id, is_paired AS "isPaired", progress FROM installation WHERE one = 1',
  )

  return {
    *find(): Steps<InstallationRecord | undefined> {
      const found = yield* row.get()
      return found && { ...found, isPaired: found.isPaired === 1 }
    },
  }
}
