import { freeWhenQuiet } from '@lade/node/memory/collect-when-quiet'
import type { Sql } from '../../sql/sql.ts'
import { type Connection, freePages, leaveOpen } from './connection.ts'
import { sqliteSql } from './sqlite-sql.ts'

/** A database that is open, as those see it who read. */
export interface ReadingDatabase {
  readonly sql: Sql
  /** Runs reads that are to see one state of the records. */
  inSnapshot<Value>(run: () => Value): Value
  /** Differs after any change that somebody else committed. */
  dataVersion(): number
  /** How many changes there were of what is found under a key. */
  servingChanges(): number
  /** True when it no longer shows what is on the disk, and is to be opened again. */
  isOutdated(): boolean
  close(): void
  /** In place of `close`, after a failure of the disk. */
  abandon(): void
}

/** Reads on a connection of SQLite, which sees every change. */
export function readingOn(connection: Connection): ReadingDatabase {
  const dataVersion = connection.prepare<[], number>('PRAGMA data_version').pluck()
  const changes = connection.prepare<[], string>("SELECT value FROM marks WHERE name = 'serving'").pluck()
  const stopFreeing = freeWhenQuiet(() => freePages(connection))
  return {
    sql: sqliteSql(connection),
    inSnapshot: (run) => connection.transaction(run)(),
    dataVersion: () => dataVersion.get() ?? 0,
    servingChanges: () => Number(changes.get() ?? 0),
    isOutdated: () => false,
    close: () => {
      stopFreeing()
      connection.close()
    },
    abandon: () => {
      stopFreeing()
      leaveOpen(connection)
    },
  }
}
