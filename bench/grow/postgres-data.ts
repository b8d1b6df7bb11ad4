import { openPostgresRecordStore } from '@lade/server/measuring'
import { Client } from 'pg'
import type { GrownData } from './grown-data.ts'
import { type Filling, fillings, type RowWords, type Shape } from './shape.ts'

const WORDS: RowWords = {
  numbers: (count, name) => `generate_series(1::bigint, ${count}::bigint) AS ${name}(i)`,
  digest: (kind) => `encode(sha256(convert_to('${kind}' || i, 'UTF8')), 'hex')`,
  zeros: (count) => `decode(repeat('00', ${count}), 'hex')`,
  bytes: (kind) => `sha256(convert_to('${kind}' || i, 'UTF8'))`,
  manyBytes: (count) =>
    `(SELECT string_agg(sha256(convert_to('part' || i || '.' || n, 'UTF8')), ''::bytea) FROM generate_series(1, ${count}) AS n)`,
  clock: (time) => `lpad(to_hex(${time} % 4294967296), 8, '0')`,
  day: (time) => `to_char(to_timestamp(${time} / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
}

/** Tables that number their rows, and the sequence that does it. */
const SEQUENCES = `
  SELECT setval('files_sequence', (SELECT MAX(sequence) FROM files));
  SELECT setval(pg_get_serial_sequence(name, 'id'), last) FROM (
    SELECT 'objects' AS name, MAX(id) AS last FROM objects UNION ALL SELECT 'dags', MAX(id) FROM dags
    UNION ALL SELECT 'pieces', MAX(id) FROM pieces UNION ALL SELECT 'copies', MAX(id) FROM copies) AS numbered`

interface Settings {
  /** The address of a database of its own, which exists; filled when it is empty. */
  readonly url: string
  readonly shape: Shape
  readonly progress: (line: string) => void
}

/** Records in a PostgreSQL database. */
export async function growPostgres({ url, shape, progress }: Settings): Promise<GrownData> {
  const client = new Client({ connectionString: url })
  await client.connect()
  // The records make their schema.
  const store = await openPostgresRecordStore({ url, maxConnections: 32 })
  const { rowCount } = await client.query('SELECT 1 FROM files LIMIT 1')
  if (rowCount === 0) await fill(client, shape, progress)
  return {
    store,
    query: async (sql) => (await client.query(sql)).rows,
    async sizes() {
      const sizes = await client.query<{ name: string; bytes: string }>(
        `SELECT relname AS name, pg_relation_size(oid) + CASE WHEN reltoastrelid = 0 THEN 0 ELSE pg_total_relation_size(reltoastrelid) END AS bytes
         FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i')
         UNION ALL SELECT 'total', pg_database_size(current_database())`,
      )
      return new Map(sizes.rows.map(({ name, bytes }) => [name, Number(bytes)]))
    },
    async close() {
      await client.end()
      await store.close()
    },
  }
}

/**
 * Indexes and constraints are made behind the rows, which takes a fraction of the time; the schema is that of the migrations. All in one
 * transaction with the truncation of the tables, so that a server with `wal_level = minimal` logs none of it.
 */
async function fill(client: Client, shape: Shape, progress: (line: string) => void): Promise<void> {
  await client.query(
    `SET statement_timeout = 0; SET session_replication_role = replica; SET maintenance_work_mem = '1GB'; SET work_mem = '512MB'`,
  )
  const { rows: indexes } = await client.query<{ name: string; sql: string }>(
    `SELECT indexname AS name, indexdef AS sql FROM pg_indexes WHERE schemaname = 'public'
       AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = (quote_ident(indexname))::regclass)`,
  )
  const { rows: uniques } = await client.query<{ table: string; name: string; sql: string }>(
    `SELECT conrelid::regclass AS table, conname AS name, pg_get_constraintdef(oid) AS sql FROM pg_constraint
     WHERE contype = 'u' AND connamespace = 'public'::regnamespace`,
  )
  const timed = async (name: string, sql: string): Promise<void> => {
    const startedAt = performance.now()
    const { rowCount } = await client.query(sql)
    progress(
      `${name}: ${rowCount === null ? '' : `${rowCount} rows `}in ${Math.round((performance.now() - startedAt) / 1000)} s`,
    )
  }
  const filled: Filling[] = fillings(shape, WORDS)
  await client.query('BEGIN')
  await client.query(`TRUNCATE ${[...new Set(filled.map(({ table }) => table))].join(', ')} CASCADE`)
  for (const { name } of indexes) await client.query(`DROP INDEX ${name}`)
  for (const { table, name } of uniques) await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`)
  for (const { table, sql } of filled) await timed(table, sql)
  for (const { table, name, sql } of uniques) await timed(name, `ALTER TABLE ${table} ADD CONSTRAINT ${name} ${sql}`)
  for (const { name, sql } of indexes) await timed(name, sql)
  await client.query(SEQUENCES)
  await client.query('COMMIT')
  await timed('vacuum', 'VACUUM ANALYZE')
  await client.query('CHECKPOINT; RESET ALL')
}
