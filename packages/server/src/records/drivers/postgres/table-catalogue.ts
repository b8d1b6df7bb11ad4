import type { Client } from 'pg'
import type { CellKind, Table, TableColumn } from '../../table-transfer.ts'

/** What only this engine needs: they are no records. */
const OWN_TABLES = new Set(['schema_version', 'write_keys'])

const KINDS: Readonly<Record<string, CellKind>> = { bigint: 'number', integer: 'number', text: 'text', bytea: 'bytes' }

/** A column whose numbers the database hands out, and what it takes them from. */
export interface NumberedColumn {
  readonly table: string
  readonly column: string
  readonly sequence: string
}

/** The tables of the records as the catalogue of this database has them, in ascending order of name. */
export async function tablesOf(client: Client): Promise<Table[]> {
  const columns = await client.query<{ owner: string; name: string; type: string }>(
    `SELECT c.relname AS owner, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
     ORDER BY c.relname COLLATE "C", a.attnum`,
  )
  const keys = await client.query<{ owner: string; name: string }>(
    `SELECT c.relname AS owner, a.attname AS name
     FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
       CROSS JOIN unnest(k.conkey) WITH ORDINALITY AS part (number, position)
       JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = part.number
     WHERE k.contype = 'p' AND c.relnamespace = current_schema()::regnamespace
     ORDER BY c.relname, part.position`,
  )
  const columnsByTable = Map.groupBy(columns.rows, ({ owner }) => owner)
  const keyByTable = Map.groupBy(keys.rows, ({ owner }) => owner)
  return [...columnsByTable]
    .filter(([name]) => !OWN_TABLES.has(name))
    .map(([name, rows]) => ({
      name,
      columns: rows.map((row) => ({ name: row.name, kind: KINDS[row.type] ?? (row.type as CellKind) })),
      key: (keyByTable.get(name) ?? []).map((row) => row.name),
    }))
}

/**
 * Holds the tables of records that are to come against those that are here. Tables of other programs in the same schema are let be.
 *
 * @throws {TypeError} for the first table that is not here, or has other columns.
 */
export async function requireSameTables(client: Client, tables: readonly Table[]): Promise<void> {
  const here = new Map((await tablesOf(client)).map((table) => [table.name, table]))
  for (const { name, columns } of tables) {
    const found = here.get(name)
    if (found === undefined) throw new TypeError(`The database has no table ${name}, which the records have.`)
    const [asked, given] = [columns, found.columns].map(describeColumns)
    if (asked !== given)
      throw new TypeError(`The table ${name} has the columns ${given} here and ${asked} in the records.`)
  }
}

function describeColumns(columns: readonly TableColumn[]): string {
  return columns
    .map(({ name, kind }) => `${name} ${kind}`)
    .sort()
    .join(', ')
}

/** The columns of these tables whose numbers the database hands out. */
export async function sequencesOf(client: Client, tables: readonly Table[]): Promise<readonly NumberedColumn[]> {
  const { rows } = await client.query<NumberedColumn>(
    `SELECT owner AS table, name AS column, sequence FROM (
       SELECT c.relname AS owner, a.attname AS name, pg_get_serial_sequence(quote_ident(c.relname), a.attname) AS sequence
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
       WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attnum > 0
         AND NOT a.attisdropped AND c.relname = ANY ($1)
     ) AS numbered WHERE sequence IS NOT NULL`,
    [tables.map(({ name }) => name)],
  )
  return rows
}
