import type { RecordStore } from '../../record-store.ts'
import { prepareReads, type ReadName, SNAPSHOT_READS } from '../../sql/reads.ts'
import { recordsOver, type SqlEngine } from '../../sql/records-over.ts'
import type { Steps } from '../../sql/sql.ts'
import { openConnection } from './connection.ts'
import { migrate } from './migrate.ts'
import { read } from './read.ts'
import { refuseSetAside } from './set-aside.ts'
import { runNow, sqliteSql } from './sqlite-sql.ts'
import { Writer } from './writer.ts'

export interface SqliteRecordStoreOptions {
  /** The database file; made when it is not there. Its folder must exist. */
  readonly file: string
  /** The file grows to this size and no further; then writes refuse with `insufficient_storage`. @default no bound */
  readonly maxSizeBytes?: number
  /** Called once when the medium failed and only a restart can tell what is on disk. */
  readonly onFatal: (error: Error) => void
}

/**
 * Records in one SQLite file: WAL, `synchronous=FULL`, one writing thread that commits in groups, reads on the calling
 * thread. Several processes may share the file.
 *
 * @throws {Error} when the file cannot be opened, is newer than this program, refuses the durable settings, or has been moved away.
 *
 * @example
 * const records = await openSqliteRecordStore({ file: 'data/lade.db', onFatal: (error) => process.exit(1) })
 * records.traits.engine // 'sqlite'
 */
export async function openSqliteRecordStore(options: SqliteRecordStoreOptions): Promise<RecordStore> {
  refuseSetAside(options.file)
  const connection = openConnection(options.file)
  try {
    migrate(connection)
  } catch (error) {
    connection.close()
    throw error
  }
  const reads: Record<ReadName, (input: never) => Steps<unknown>> = prepareReads(sqliteSql(connection))
  const inSnapshot = connection.transaction(runNow)
  const dataVersion = connection.prepare<[], number>('PRAGMA data_version').pluck()
  const writer = new Writer({ file: options.file, maxSizeBytes: options.maxSizeBytes, onFatal: options.onFatal })
  const engine: SqlEngine = {
    read: (name, input) =>
      read(() => {
        const steps = reads[name](input as never)
        return (SNAPSHOT_READS.has(name) ? inSnapshot(steps) : runNow(steps)) as never
      }),
    write: (name, input, fence) => writer.write(name, input, fence),
  }

  return recordsOver(engine, {
    traits: { engine: 'sqlite' },
    generation: () => dataVersion.get() ?? 0,
    check: () => read(() => void dataVersion.get()),
    async close() {
      await writer.close()
      if (connection.open) connection.close()
    },
  })
}
