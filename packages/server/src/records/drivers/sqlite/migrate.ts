import { SQLITE_MIGRATIONS } from '../../migrations/sqlite.ts'
import type { Connection } from './connection.ts'

/**
 * Brings the schema to the newest version, each step in a transaction of its own; safe to run from several processes
 * at once, since the version is read again under the write lock.
 *
 * @throws {Error} when the data was written by a newer version of Lade.
 */
export function migrate(connection: Connection, migrations: readonly string[] = SQLITE_MIGRATIONS): void {
  const step = connection.transaction((): boolean => {
    const version = Number(connection.pragma('user_version', { simple: true }))
    if (version > migrations.length) {
      throw new Error(`This data has schema version ${version}; this Lade knows versions up to ${migrations.length}.`)
    }
    const migration = migrations[version]
    if (migration === undefined) return false
    connection.exec(migration)
    connection.pragma(`user_version = ${version + 1}`)
    return true
  })
  while (step.immediate()) {
    // Each turn is one committed version.
  }
}
