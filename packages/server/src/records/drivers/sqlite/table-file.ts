import { closeSync, openSync, rmSync } from 'node:fs'
import { LadeError } from '@lade/core/errors'
import Database from 'better-sqlite3'
import {
  RunningTableSum,
  type Table,
  type TableColumn,
  type TableImport,
  type TableRow,
  type TableTarget,
} from '../../table-transfer.ts'
import type { Connection } from './connection.ts'
import { migrate } from './migrate.ts'
import { syncPath } from './sync-path.ts'
import { inBatches, quoted, rowsOf, tablesOf } from './table-source.ts'

/** What was taken off the schema while rows come in, as statements that bring it back. */
type TakenOff = readonly { readonly type: 'index' | 'trigger'; readonly name: string; readonly sql: string }[]

/** The tables of the records in the schema of this program, without a database. */
export function tablesOfSchema(): readonly Table[] {
  const connection = new Database(':memory:')
  try {
    migrate(connection)
    return tablesOf(connection)
  } finally {
    connection.close()
  }
}

/**
 * A new database file that records are written into. It is whole and durable once the import is committed; until then it is of no use, and
 * a file that is there already is written over.
 */
export function createSqliteTableFile({ file }: { readonly file: string }): TableTarget {
  return {
    state: async () => ({ occupied: [], mark: undefined }),
    begin: async (tables) => orFailure(() => beginTableFile(file, tables)),
    async close() {},
  }
}

function beginTableFile(file: string, tables: readonly Table[]): TableImport {
  for (const name of [file, `${file}-journal`, `${file}-wal`, `${file}-shm`]) rmSync(name, { force: true })
  // Records hold private files: nobody else reads them, whatever the mask of the process is.
  closeSync(openSync(file, 'w', 0o600))
  const connection = new Database(file)
  try {
    // A power cut leaves a file that is made again from its beginning.
    connection.pragma('journal_mode = OFF')
    connection.pragma('synchronous = OFF')
    // Rows come table by table; what refers to them was checked where they are from.
    connection.pragma('foreign_keys = OFF')
    migrate(connection)
    requireSameTables(connection, tables)
    connection.exec('BEGIN')
    for (const { name } of tablesOf(connection)) connection.exec(`DELETE FROM ${quoted(name)}`)
    return tableImportInto(connection, { file, takenOff: takeOff(connection) })
  } catch (error) {
    connection.close()
    throw error
  }
}

function tableImportInto(
  connection: Connection,
  { file, takenOff }: { readonly file: string; readonly takenOff: TakenOff },
): TableImport {
  return {
    insert: async (table, rows) => orFailure(() => insert(connection, table, rows)),

    complete: async (lastNumbers) =>
      orFailure(() => {
        for (const { sql } of takenOff) connection.exec(sql)
        goOnBehind(connection, lastNumbers)
      }),

    sumOf: async (table) =>
      orFailure(() => {
        const sum = new RunningTableSum()
        for (const rows of inBatches(rowsOf(connection, table), table)) sum.addRows(rows)
        return sum.sum()
      }),

    commit: async ({ secrets }) =>
      orFailure(() => {
        const keep = connection.prepare<[string, string]>('INSERT OR REPLACE INTO secrets (name, value) VALUES (?, ?)')
        for (const { name, value } of secrets) keep.run(name, value)
        connection.exec('COMMIT')
        connection.close()
        syncPath(file)
      }),

    async discard() {
      if (!connection.open) return
      connection.close()
      rmSync(file, { force: true })
    },
  }
}

function requireSameTables(connection: Connection, tables: readonly Table[]): void {
  const own = new Map(tablesOf(connection).map((table) => [table.name, table]))
  for (const { name, columns } of tables) {
    const found = own.get(name)
    if (found === undefined) throw new TypeError(`The schema of SQLite has no table ${name}, which the records have.`)
    const [asked, given] = [columns, found.columns].map(describeColumns)
    if (asked !== given) throw new TypeError(`The table ${name} has the columns ${asked}; SQLite has ${given}.`)
  }
}

function describeColumns(columns: readonly TableColumn[]): string {
  return columns
    .map(({ name, kind }) => `${name} ${kind}`)
    .sort()
    .join(', ')
}

/** Indexes are made faster over all rows at once, and triggers would count again what comes with its counts. */
function takeOff(connection: Connection): TakenOff {
  const found = connection
    .prepare<[], TakenOff[number]>(
      "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL",
    )
    .all()
  for (const { type, name } of found) connection.exec(`DROP ${type} ${quoted(name)}`)
  return found
}

function insert(connection: Connection, { name, columns }: Table, rows: readonly TableRow[]): void {
  const list = columns.map((column) => quoted(column.name)).join(', ')
  const places = columns.map(() => '?').join(', ')
  const statement = connection.prepare(`INSERT INTO ${quoted(name)} (${list}) VALUES (${places})`)
  for (const row of rows) statement.run(...row)
}

/** Numbered tables have a row among the sequences from their first insert on, which is there for none that is empty. */
function goOnBehind(connection: Connection, lastNumbers: ReadonlyMap<string, number>): void {
  const numbered = connection
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'")
    .pluck()
    .all()
  for (const name of numbered) {
    const last = lastNumbers.get(name)
    if (last === undefined) continue
    const { changes } = connection
      .prepare<[number, string]>('UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?')
      .run(last, name)
    if (changes === 0) connection.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run(name, last)
  }
}

function orFailure<Value>(work: () => Value): Value {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    const isFull = error.code === 'SQLITE_FULL' || error.code === 'ENOSPC'
    throw isFull
      ? new LadeError('insufficient_storage', { retryAfterSeconds: 60 }, { cause: error })
      : new LadeError('storage_failed', { retryAfterSeconds: 5 }, { cause: error })
  }
}
