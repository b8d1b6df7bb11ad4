import { SQLITE_ALONE_FROM, SQLITE_MIGRATIONS } from '../../migrations/sqlite.ts'
import type { Connection } from './connection.ts'

/**
 * Brings the schema to the newest version, each step in a transaction of its own, and all of them in one for a new file; safe to run
 * from several processes at once, since the version is read again under the write lock.
 *
 * @throws {Error} when the data was written by a newer version of Lade.
 */
export function migrate(connection: Connection, migrations: readonly string[] = SQLITE_MIGRATIONS): void {
  const step = connection.transaction((): boolean => {
    const version = Number(connection.pragma('user_version', { simple: true }))
    if (version > migrations.length) {
      throw new Error(`This data has schema version ${version}; this Lade knows versions up to ${migrations.length}.`)
    }
    if (version === migrations.length) return false
    const next = version === 0 ? migrations.length : version + 1
    for (const migration of migrations.slice(version, next)) connection.exec(migration)
    connection.pragma(`user_version = ${next}`)
    return true
  })
  while (step.immediate()) {
    // Each turn is one committed version.
  }
}

/**
 * The instances that the records know, where an older version wrote them beside which this one cannot run; undefined for other records.
 * The lock of each tells whether it lives.
 */
export function olderInstances(connection: Connection): readonly string[] | undefined {
  const version = Number(connection.pragma('user_version', { simple: true }))
  if (version === 0 || version >= SQLITE_ALONE_FROM) return undefined
  return connection.prepare<[], string>('SELECT id FROM instances').pluck().all()
}
