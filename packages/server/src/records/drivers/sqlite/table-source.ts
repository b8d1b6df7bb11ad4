import Database from 'better-sqlite3'
import type { CellKind, LocalTableSource, Table, TableRow } from '../../table-transfer.ts'
import type { Connection } from './connection.ts'
import { openDurable } from './open-durable.ts'

/** How long somebody else may still be writing. */
const TIMEOUT_MS = 2000
const BATCH_ROWS = 2000
const BATCH_BYTES = 2 * 1024 * 1024
/** About what a number or an empty text takes. */
const CELL_BYTES = 8

const KINDS: Readonly<Record<string, CellKind>> = { INTEGER: 'number', TEXT: 'text', BLOB: 'bytes' }

/**
 * The tables of a database file whose schema is up to date, as they are now.
 *
 * @param options.isHeld - keeps everybody from writing to the file until this is closed, so that a service that is started on it meanwhile
 *   waits for half a minute and ends. @default true
 * @param options.isReadOnly - writes nothing at all, not even what a log holds into its file. @default false
 * @throws {Error} `SQLITE_BUSY` when somebody is writing.
 */
export function openSqliteTables(options: {
  readonly file: string
  readonly isHeld?: boolean
  readonly isReadOnly?: boolean
}): LocalTableSource {
  const { file, isReadOnly = false, isHeld = !isReadOnly } = options
  const connection = isReadOnly
    ? new Database(file, { readonly: true, fileMustExist: true })
    : openDurable(file, { busyMs: TIMEOUT_MS })
  try {
    connection.pragma(`busy_timeout = ${TIMEOUT_MS}`)
    connection.exec(isHeld ? 'BEGIN IMMEDIATE' : 'BEGIN')
    return tableSourceOf(connection, tablesOf(connection))
  } catch (error) {
    connection.close()
    throw error
  }
}

function tableSourceOf(connection: Connection, tables: readonly Table[]): LocalTableSource {
  let isReading = false

  function* batches(table: Table): Generator<readonly TableRow[]> {
    if (isReading) throw new TypeError('The rows of one table are read at a time.')
    isReading = true
    try {
      yield* inBatches(rowsOf(connection, table), table)
    } finally {
      isReading = false
    }
  }

  return {
    tables,
    batches,
    countRows: ({ name }) =>
      connection
        .prepare<[], number>(`SELECT count(*) FROM ${quoted(name)}`)
        .pluck()
        .get() ?? 0,
    lastNumbers() {
      const rows = connection.prepare<[], { name: string; seq: number }>('SELECT name, seq FROM sqlite_sequence').all()
      return new Map(rows.map(({ name, seq }) => [name, seq]))
    },
    close() {
      if (!connection.open) return
      if (connection.inTransaction) connection.exec('ROLLBACK')
      connection.close()
    },
  }
}

/** What the catalogue of the file says, so that no table that is added to the schema one day can be forgotten here. */
export function tablesOf(connection: Connection): Table[] {
  const names = connection
    .prepare<[], string>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    )
    .pluck()
    .all()
  return names.map((name) => {
    const columns = connection
      .prepare<[string], { name: string; type: string; pk: number }>('SELECT name, type, pk FROM pragma_table_info(?)')
      .all(name)
    const key = columns.filter(({ pk }) => pk > 0).toSorted((one, other) => one.pk - other.pk)
    return {
      name,
      columns: columns.map((column) => ({ name: column.name, kind: kindOf(name, column.name, column.type) })),
      key: key.map((column) => column.name),
    }
  })
}

function kindOf(table: string, column: string, type: string): CellKind {
  const kind = KINDS[type]
  if (kind === undefined) throw new TypeError(`${table}.${column} is of type ${type}, which no other engine has.`)
  return kind
}

export function rowsOf(connection: Connection, { name, columns, key }: Table): IterableIterator<TableRow> {
  const list = columns.map((column) => quoted(column.name)).join(', ')
  const order = key.map(quoted).join(', ')
  return connection
    .prepare<[], TableRow>(`SELECT ${list} FROM ${quoted(name)} ORDER BY ${order}`)
    .raw()
    .iterate()
}

export function* inBatches(rows: Iterable<TableRow>, { name, columns }: Table): Generator<readonly TableRow[]> {
  let batch: TableRow[] = []
  let bytes = 0
  for (const row of rows) {
    for (const [index, cell] of row.entries()) {
      if (typeof cell === 'number' && !Number.isSafeInteger(cell)) {
        throw new Error(
          `A row of ${name} has ${cell} as its ${columns[index]?.name}, which is not a whole number below 2^53.`,
        )
      }
      bytes += CELL_BYTES + (cell === null || typeof cell === 'number' ? 0 : cell.length)
    }
    batch.push(row)
    if (batch.length < BATCH_ROWS && bytes < BATCH_BYTES) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}

export function quoted(name: string): string {
  return `"${name}"`
}
