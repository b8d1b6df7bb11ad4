import type { Client } from 'pg'
import type { NamedValue, Table, TableImport, TableRow, TableSum } from '../../table-transfer.ts'
import { RunningTableSum, type SummedRow } from '../../table-transfer.ts'
import { translatedFailure } from './failures.ts'
import { requireSameTables, sequencesOf } from './table-catalogue.ts'

/** Under which the marks have what the last finished copy left. */
export const MOVE_MARK = 'moved here'
/** Rows that are read back at a time; big values are not among them. */
const FETCH_ROWS = 2000
/** From this size on a value travels as it is, and not as text among others. */
const BIG_BYTES = 256 * 1024
/** For making indexes; what the server gives by itself is little. */
const INDEX_MEMORY = '128MB'

/** What the triggers do that keep counts, which come with the rows: by themselves they would count all of them again, one by one. */
const COUNTING = ['count_copies', 'count_deals', 'count_composed_file', 'count_network_usage']

/** What was taken off the tables, as statements that bring it back. */
interface TakenOff {
  readonly indexes: readonly string[]
  readonly constraints: readonly string[]
  readonly triggers: readonly string[]
}

/**
 * Locks and empties the tables in a transaction. Indexes, foreign keys and counting triggers are taken off first and come back in the
 * end, which is faster by far, checks all rows at once, and leaves no order in which rows have to come.
 *
 * @throws {LadeError} `storage_failed`; what `requireSameTables` throws.
 */
export async function beginTableImport(client: Client, tables: readonly Table[]): Promise<TableImport> {
  const names = tables.map(({ name }) => quoted(name))
  let isOver = false

  async function discard(): Promise<void> {
    if (isOver) return
    isOver = true
    // A connection that is broken has undone everything already.
    await client.query('ROLLBACK').catch(() => {})
  }

  async function step<Value>(work: () => Promise<Value>): Promise<Value> {
    try {
      return await work()
    } catch (error) {
      await discard()
      throw error instanceof TypeError ? error : translatedFailure(error)
    }
  }

  const takenOff = await step(async () => {
    await client.query('BEGIN')
    await requireSameTables(client, tables)
    await client.query(`LOCK TABLE ${names.join(', ')} IN ACCESS EXCLUSIVE MODE`)
    await client.query(`TRUNCATE ${names.join(', ')} RESTART IDENTITY`)
    return takeOff(client, tables)
  })

  return {
    insert: (table, rows) => step(() => insert(client, table, rows)),

    complete: (lastNumbers) =>
      step(async () => {
        await client.query(`SET LOCAL maintenance_work_mem = '${INDEX_MEMORY}'`)
        const { indexes, constraints, triggers } = takenOff
        for (const statement of [...indexes, ...constraints, ...triggers]) await client.query(statement)
        await goOnBehind(client, tables, lastNumbers)
        // Without what it finds out the first plans would be made for empty tables.
        await client.query(`ANALYZE ${names.join(', ')}`)
      }),

    sumOf: (table) => step(() => sumOf(client, table)),

    commit: ({ secrets, mark }) =>
      step(async () => {
        await keep(client, 'secrets', secrets)
        await keep(client, 'marks', [{ name: MOVE_MARK, value: mark }])
        await client.query('SET LOCAL synchronous_commit = on')
        await client.query('COMMIT')
        isOver = true
      }),

    discard,
  }
}

/** Foreign keys before indexes, some of which they rest on; those that are made with a table stay. */
async function takeOff(client: Client, tables: readonly Table[]): Promise<TakenOff> {
  const names = tables.map(({ name }) => name)
  const constraints = await client.query<{ owner: string; name: string; definition: string }>(
    `SELECT c.relname AS owner, k.conname AS name, pg_get_constraintdef(k.oid) AS definition
     FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
     WHERE k.contype = 'f' AND c.relnamespace = current_schema()::regnamespace AND c.relname = ANY ($1)`,
    [names],
  )
  for (const { owner, name } of constraints.rows) {
    await client.query(`ALTER TABLE ${quoted(owner)} DROP CONSTRAINT ${quoted(name)}`)
  }
  const indexes = await client.query<{ name: string; definition: string }>(
    `SELECT i.indexrelid::regclass::text AS name, pg_get_indexdef(i.indexrelid) AS definition
     FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY ($1)
       AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid)`,
    [names],
  )
  for (const { name } of indexes.rows) await client.query(`DROP INDEX ${name}`)
  const triggers = await client.query<{ owner: string; name: string }>(
    `SELECT c.relname AS owner, t.tgname AS name
     FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY ($1) AND p.proname = ANY ($2)`,
    [names, COUNTING],
  )
  for (const { owner, name } of triggers.rows) {
    await client.query(`ALTER TABLE ${quoted(owner)} DISABLE TRIGGER ${quoted(name)}`)
  }
  return {
    triggers: triggers.rows.map(({ owner, name }) => `ALTER TABLE ${quoted(owner)} ENABLE TRIGGER ${quoted(name)}`),
    indexes: indexes.rows.map(({ definition }) => definition),
    constraints: constraints.rows.map(
      ({ owner, name, definition }) => `ALTER TABLE ${quoted(owner)} ADD CONSTRAINT ${quoted(name)} ${definition}`,
    ),
  }
}

async function insert(client: Client, table: Table, rows: readonly TableRow[]): Promise<void> {
  const isBig = (row: TableRow): boolean =>
    row.some((cell) => cell !== null && typeof cell !== 'number' && cell.length > BIG_BYTES)
  const small = rows.filter((row) => !isBig(row))
  if (small.length > 0)
    await client.query(insertMany(table), [JSON.stringify(small.map((row) => recordOf(table, row)))])
  for (const row of rows.filter(isBig)) await client.query(insertOne(table), [...row])
}

/** One document for all rows: the quickest that both sides have, without a protocol of its own. */
function insertMany({ name, columns }: Table): string {
  const list = columns.map((column) => quoted(column.name)).join(', ')
  return `INSERT INTO ${quoted(name)} (${list}) SELECT ${list} FROM json_populate_recordset(NULL::${quoted(name)}, $1::json)`
}

function insertOne({ name, columns }: Table): string {
  const list = columns.map((column) => quoted(column.name)).join(', ')
  return `INSERT INTO ${quoted(name)} (${list}) VALUES (${columns.map((_, index) => `$${index + 1}`).join(', ')})`
}

function recordOf({ columns }: Table, row: TableRow): Record<string, string | number> {
  const record: Record<string, string | number> = {}
  for (const [index, { name }] of columns.entries()) {
    const cell = row[index] ?? null
    // What is not named is NULL.
    if (cell !== null) record[name] = cell instanceof Uint8Array ? `\\x${Buffer.from(cell).toString('hex')}` : cell
  }
  return record
}

async function goOnBehind(
  client: Client,
  tables: readonly Table[],
  lastNumbers: ReadonlyMap<string, number>,
): Promise<void> {
  for (const { table, column, sequence } of await sequencesOf(client, tables)) {
    const { rows } = await client.query<{ last: number | null }>(
      `SELECT max(${quoted(column)}) AS last FROM ${quoted(table)}`,
    )
    const last = Math.max(rows[0]?.last ?? 0, lastNumbers.get(table) ?? 0)
    if (last > 0) await client.query('SELECT setval($1::regclass, $2, true)', [sequence, last])
  }
}

async function sumOf(client: Client, { name, columns, key }: Table): Promise<TableSum> {
  const list = columns.map((column) =>
    column.kind === 'bytes' ? `encode(sha256(${quoted(column.name)}), 'hex')` : quoted(column.name),
  )
  const order = key.map((column) => `${quoted(name)}.${quoted(column)}`).join(', ')
  const sum = new RunningTableSum()
  await client.query(
    `DECLARE rows_of_table NO SCROLL CURSOR FOR SELECT ${list.join(', ')} FROM ${quoted(name)} ORDER BY ${order}`,
  )
  for (;;) {
    const { rows } = await client.query<(string | number | null)[]>({
      text: `FETCH ${FETCH_ROWS} FROM rows_of_table`,
      rowMode: 'array',
    })
    if (rows.length === 0) break
    sum.addSummed(rows as readonly SummedRow[])
  }
  await client.query('CLOSE rows_of_table')
  return sum.sum()
}

async function keep(client: Client, table: 'secrets' | 'marks', values: readonly NamedValue[]): Promise<void> {
  for (const { name, value } of values) {
    await client.query(
      `INSERT INTO ${table} (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      [name, value],
    )
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
