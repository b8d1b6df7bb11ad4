import type { RecordStore, RecordsState } from '../../record-store.ts'
import { recordsOver } from '../../sql/records-over.ts'
import type { SqlEngine } from '../../sql/sql-engine.ts'
import type { Connection } from './connection.ts'
import { refuseDamagedLog } from './damaged-log.ts'
import { migrate, olderInstances } from './migrate.ts'
import { openDurable } from './open-durable.ts'
import { RecordsAccess } from './records-access.ts'
import { refuseSetAside } from './set-aside.ts'

/** Which file, how much room must stay free, and who is told about problems. */
export interface SqliteRecordStoreOptions {
  /** The database file; made when it is not there. Its folder must exist. */
  readonly file: string
  /** The file grows to this size and no further; then writes refuse with `insufficient_storage`. @default no bound */
  readonly maxSizeBytes?: number
  /** Kept free on the disk of the file: below it uploads are `insufficient_storage`. With it a reserve is kept there. @default neither */
  readonly minFreeBytes?: number
  /** Told when the records can no longer be written, and why, and when they can be again. */
  readonly onState?: (state: RecordsState, cause: Error | undefined) => void
  /** Called once when the medium failed and only a restart can tell what is on disk. */
  readonly onFatal: (error: Error) => void
  /**
   * Called with the instances of an older version, before what that wrote is brought up to date. What it throws ends the opening.
   * @default does nothing
   */
  readonly beforeUpgrade?: (instances: readonly string[]) => Promise<void>
}

/**
 * Records in one SQLite file: WAL, `synchronous=FULL`, one writing thread that commits in groups, reads on the calling
 * thread. Several processes may share the file.
 *
 * A full disk ends no reads, and no removals while there is a reserve. On one that takes no writes the records are read, writes are
 * `read_only`, and go on by themselves when it takes them again.
 *
 * @throws {Error} when the file cannot be opened, is newer than this program, refuses the durable settings, or has been moved away, and
 *   when its log is damaged in the middle, so that SQLite would forget what was committed behind the damage.
 *
 * @example
 * const records = await openSqliteRecordStore({ file: 'data/lade.db', onFatal: (error) => process.exit(1) })
 * records.traits.engine // 'sqlite'
 */
export async function openSqliteRecordStore(options: SqliteRecordStoreOptions): Promise<RecordStore> {
  const { file, beforeUpgrade } = options
  refuseSetAside(file)
  refuseDamagedLog(file)
  const access = await RecordsAccess.open({ ...options, openToWrite: () => openUpToDate(file, beforeUpgrade) })
  const engine: SqlEngine = {
    read: (name, input) => access.read(name, input),
    write: (name, input, fence) => access.write(name, input, fence),
  }

  return recordsOver(engine, {
    traits: { engine: 'sqlite' },
    disk: {
      state: () => access.state,
      reserveBytes: () => access.reserveBytes,
      beforeWritable: (hook) => access.beforeWritable(hook),
    },
    generation: () => access.generation,
    check: () => access.check(),
    close: () => access.close(),
  })
}

async function openUpToDate(
  file: string,
  beforeUpgrade: SqliteRecordStoreOptions['beforeUpgrade'],
): Promise<Connection> {
  const connection = openDurable(file)
  try {
    const older = olderInstances(connection)
    if (older !== undefined) await beforeUpgrade?.(older)
    migrate(connection)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}
