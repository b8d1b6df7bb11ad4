import { Client, type ClientConfig } from 'pg'
import type { Table, TableImport, TableTarget, TargetState } from '../../table-transfer.ts'
import { connectionConfig } from './connections.ts'
import { translatedFailure } from './failures.ts'
import { beginTableImport, MOVE_MARK } from './table-import.ts'

/** How long the tables are waited for, which somebody may hold whose connection has just broken. */
const LOCK_MS = 60_000
const KEEPALIVE_MS = 5000

/**
 * Tables that a service fills by itself, or whose rows last minutes: that there are some makes a database nobody's. Every other table
 * counts, also one that is added to the schema one day.
 */
const PASSING = new Set([
  'schema_version',
  'write_keys',
  'installation',
  'instances',
  'leases',
  'cursors',
  'marks',
  'secrets',
  'nonces',
  'open_uploads',
  'challenges',
  'signups',
])

/**
 * A database as the target of records.
 *
 * @throws {LadeError} `storage_failed` when it cannot be reached.
 */
export async function openPostgresTableTarget({ url }: { readonly url: string }): Promise<TableTarget> {
  const client = await connect(url)
  return {
    state: () => orFailure(() => stateOf(client)),
    begin: (tables: readonly Table[]): Promise<TableImport> => beginTableImport(client, tables),
    close: () => client.end().catch(() => {}),
  }
}

/** A connection on which a statement may take hours, and that is still given up when the other side is gone. */
async function connect(url: string): Promise<Client> {
  const config: ClientConfig = {
    ...connectionConfig({ url }),
    application_name: 'lade migrate-storage',
    statement_timeout: 0,
    query_timeout: 0,
    lock_timeout: LOCK_MS,
    idle_in_transaction_session_timeout: 0,
    keepAliveInitialDelayMillis: KEEPALIVE_MS,
  }
  const client = new Client(config)
  client.on('error', () => {})
  await orFailure(() => client.connect())
  return client
}

async function stateOf(client: Client): Promise<TargetState> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
     ORDER BY relname`,
  )
  const names = rows.map(({ name }) => name)
  const occupied: string[] = []
  for (const name of names.filter((each) => !PASSING.has(each))) {
    const found = await client.query(`SELECT 1 FROM "${name.replaceAll('"', '""')}" LIMIT 1`)
    if (found.rowCount !== 0) occupied.push(name)
  }
  if (!names.includes('marks')) return { occupied, mark: undefined }
  const marks = await client.query<{ value: string }>('SELECT value FROM marks WHERE name = $1', [MOVE_MARK])
  return { occupied, mark: marks.rows[0]?.value }
}

async function orFailure<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    throw translatedFailure(error)
  }
}
