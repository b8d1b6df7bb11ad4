import { BackupRefused } from '../backup/backup-refused.ts'
import type { Config } from '../config/config.ts'
import { describeDatabase } from '../config/describe.ts'
import { openInstanceLocks } from '../records/drivers/sqlite/instance-locks.ts'
import { schemaVersionOf } from '../records/drivers/sqlite/schema-version.ts'
import { tablesOfSchema } from '../records/drivers/sqlite/table-file.ts'
import { openSqliteTables } from '../records/drivers/sqlite/table-source.ts'
import type { HeldLock } from '../records/instance-locks.ts'
import { POSTGRES_MIGRATIONS } from '../records/migrations/postgres.ts'
import { SQLITE_MIGRATIONS } from '../records/migrations/sqlite.ts'
import type { TableSource } from '../records/table-transfer.ts'
import { readDatabaseFacts } from '../wiring/probes.ts'

/**
 * Refuses records of another version of Lade: opened by this one, an older schema would be brought up to date under a service that runs.
 *
 * @throws {BackupRefused}
 * @throws {LadeError} `storage_failed`.
 */
export async function requireSameSchema({ database }: Config): Promise<void> {
  const isSqlite = database.kind === 'sqlite'
  const found = isSqlite ? schemaVersionOf(database.file) : (await readDatabaseFacts(database)).schemaVersion
  const known = (isSqlite ? SQLITE_MIGRATIONS : POSTGRES_MIGRATIONS).length
  if (found === known) return
  throw new BackupRefused(
    found < known
      ? `The records at ${describeDatabase(database)} have schema version ${found}; this Lade has ${known}. Back them up with the older Lade, or run "lade serve" of this version once to upgrade them.`
      : `The records at ${describeDatabase(database)} have schema version ${found}; this Lade knows versions up to ${known}. Use a newer Lade.`,
  )
}

/** All records at one moment, whatever is committed meanwhile. Reads only. @throws {LadeError} `storage_failed`. */
export async function openSnapshotSource({ database }: Config): Promise<TableSource> {
  if (database.kind === 'sqlite') return openSqliteTables({ file: database.file, isReadOnly: true })
  const { openPostgresSnapshot } = await import('../records/drivers/postgres/table-snapshot.ts')
  return openPostgresSnapshot({ url: database.url.reveal(), names: tablesOfSchema().map(({ name }) => name) })
}

/**
 * Keeps every other backup and restore out of a folder.
 *
 * @throws {BackupRefused} when one is under way.
 */
export async function lockFolder(dir: string, name: 'backup' | 'restore'): Promise<HeldLock> {
  try {
    return await openInstanceLocks({ dir }).hold(name)
  } catch (error) {
    if (codeOf(error) !== 'SQLITE_BUSY') throw error
    throw new BackupRefused(`Another backup or restore uses ${dir}. Wait until it ends.`)
  }
}

/** The same for whoever only reads, also from a medium that takes no lock; undefined there. */
export async function lockToRead(dir: string): Promise<HeldLock | undefined> {
  try {
    return await lockFolder(dir, 'backup')
  } catch (error) {
    if (['SQLITE_READONLY', 'SQLITE_CANTOPEN', 'EROFS', 'EACCES'].includes(codeOf(error))) return undefined
    throw error
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
