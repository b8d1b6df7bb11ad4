import type { InstallationRecord } from '../installation-records.ts'
import { prepareInstallationReads } from './installation-reads.ts'
import type { Sql, Steps } from './sql.ts'

/** Each function runs inside the caller's transaction. */
export function prepareInstallationWrites(db: Sql) {
  const reads = prepareInstallationReads(db)
  const insert = db.prepare<[string]>('INSERT INTO installation (one, id, is_paired, progress) VALUES (1, ?, 0, 0)')
  const pair = db.prepare<[string]>('UPDATE installation SET is_paired = 1 WHERE one = 1 AND id = ?')
  const raise = db.prepare<[]>('UPDATE installation SET progress = progress + 1 WHERE one = 1')
  const replace = db.prepare<[string, number, number]>(
    `INSERT INTO installation (one, id, is_paired, progress) VALUES (1, ?, ?, ?)
     ON CONFLICT (one) DO UPDATE SET id = excluded.id, is_paired = excluded.is_paired, progress = excluded.progress`,
  )

  return {
    *offer(id: string): Steps<InstallationRecord> {
      const found = yield* reads.find()
      if (found !== undefined) return found
      yield* insert.run(id)
      return { id, isPaired: false, progress: 0 }
    },

    *pair(id: string): Steps<void> {
      yield* pair.run(id)
    },

    *raise(_: undefined): Steps<number> {
      yield* raise.run()
      const found = yield* reads.find()
      if (found === undefined) throw new Error('These records have no installation id.')
      return found.progress
    },

    *replace({ id, isPaired, progress }: InstallationRecord): Steps<void> {
      yield* replace.run(id, isPaired ? 1 : 0, progress)
    },
  }
}
