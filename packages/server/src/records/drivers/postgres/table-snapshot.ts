import { Client } from 'pg'
import type { Table, TableRow, TableSource } from '../../table-transfer.ts'
import { connectionConfig } from './connections.ts'
import { translatedFailure } from './failures.ts'
import { sequencesOf, tablesOf } from './table-catalogue.ts'

/** Rows that are fetched at a time; fewer where a row may hold bytes, so that memory stays small. */
const FETCH_ROWS = 4000
const FETCH_ROWS_WITH_BYTES = 250
const KEEPALIVE_MS = 5000

/**
 * The tables of a database at one moment, whatever is committed meanwhile. Reads only.
 *
 * @param options.names - the tables of the records; what else is in the schema belongs to other programs.
 * @throws {LadeError} `storage_failed` when it cannot be reached.
 * @throws {TypeError} when one of the tables is not there.
 */
export async function openPostgresSnapshot(options: {
  readonly url: string
  readonly names: readonly string[]
}): Promise<TableSource> {
  const client = await connect(options.url)
  try {
    return await snapshotOver(client, options.names)
  } catch (error) {
    await client.end().catch(() => {})
    throw error instanceof TypeError ? error : translatedFailure(error)
  }
}

/** A connection whose transaction may last hours, and that is still given up when the other side is gone. */
async function connect(url: string): Promise<Client> {
  const client = new Client({
    ...connectionConfig({ url }),
    application_name: 'lade backup',
    statement_timeout: 0,
    query_timeout: 0,
    idle_in_transaction_session_timeout: 0,
    keepAliveInitialDelayMillis: KEEPALIVE_MS,
  })
  client.on('error', () => {})
  await orFailure(() => client.connect())
  return client
}

async function snapshotOver(client: Client, names: readonly string[]): Promise<TableSource> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  const found = new Map((await tablesOf(client)).map((table) => [table.name, table]))
  const tables = names.map((name) => {
    const table = found.get(name)
    if (table === undefined) throw new TypeError(`The database has no table ${name}.`)
    return table
  })
  let isReading = false

  async function* batches(table: Table): AsyncGenerator<readonly TableRow[]> {
    if (isReading) throw new TypeError('The rows of one table are read at a time.')
    isReading = true
    try {
      yield* rowsOf(client, table)
    } finally {
      isReading = false
    }
  }

  return {
    tables,
    batches,
    countRows: ({ name }) =>
      orFailure(async () => {
        const { rows } = await client.query<{ count: number }>(`SELECT count(*) AS count FROM ${quoted(name)}`)
        return rows[0]?.count ?? 0
      }),
    lastNumbers: () => orFailure(() => lastNumbers(client, tables)),
    close: () => client.end().catch(() => {}),
  }
}

async function* rowsOf(client: Client, { name, columns, key }: Table): AsyncGenerator<readonly TableRow[]> {
  const list = columns.map((column) => quoted(column.name)).join(', ')
  const order = key.map(quoted).join(', ')
  const count = columns.some(({ kind }) => kind === 'bytes') ? FETCH_ROWS_WITH_BYTES : FETCH_ROWS
  await orFailure(() =>
    client.query(`DECLARE rows_of_table NO SCROLL CURSOR FOR SELECT ${list} FROM ${quoted(name)} ORDER BY ${order}`),
  )
  try {
    for (;;) {
      const text = `FETCH ${count} FROM rows_of_table`
      const { rows } = await orFailure(() => client.query<(string | number | null)[]>({ text, rowMode: 'array' }))
      if (rows.length === 0) return
      for (const row of rows) requireSafe(name, row)
      yield rows
    }
  } finally {
    await client.query('CLOSE rows_of_table').catch(() => {})
  }
}

function requireSafe(table: string, row: TableRow): void {
  const unsafe = row.find((cell) => typeof cell === 'number' && !Number.isSafeInteger(cell))
  if (unsafe !== undefined)
    throw new Error(`A row of ${table} has ${String(unsafe)}, which is not a whole number below 2^53.`)
}

async function lastNumbers(client: Client, tables: readonly Table[]): Promise<Map<string, number>> {
  const last = new Map<string, number>()
  for (const { table, sequence } of await sequencesOf(client, tables)) {
    const { rows } = await client.query<{ last: number }>(
      `SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM ${sequence}`,
    )
    last.set(table, rows[0]?.last ?? 0)
  }
  return last
}

async function orFailure<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    throw translatedFailure(error)
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
