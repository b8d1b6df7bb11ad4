import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteRecordStore, type RecordStore } from '@lade/server/measuring'
import Database from 'better-sqlite3'
import type { GrownData } from './grown-data.ts'
import { fillings, type RowWords, type Shape } from './shape.ts'

const WORDS: RowWords = {
  numbers: (count, name) =>
    `(WITH RECURSIVE counted(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM counted WHERE i < ${count}) SELECT i FROM counted) AS ${name}`,
  digest: () => 'lower(hex(randomblob(32)))',
  bytes: () => 'randomblob(32)',
  zeros: (count) => `zeroblob(${count})`,
  manyBytes: (count) => `randomblob(32 * (${count}))`,
  clock: (time) => `printf('%08x', ${time} % 4294967296)`,
  day: (time) => `strftime('%Y-%m-%d', ${time} / 1000, 'unixepoch')`,
}

/** Records in a SQLite file of its own in `dir`, which is made unless it is there. */
export async function growSqlite(dir: string, shape: Shape, progress: (line: string) => void): Promise<GrownData> {
  const file = join(dir, `files-${shape.files}.db`)
  if (!existsSync(file)) {
    // The records make their schema.
    await (await open(file)).close()
    fill(file, shape, progress)
  }
  const store = await open(file)
  const connection = new Database(file, { readonly: true })
  connection.pragma('busy_timeout = 30000')
  return {
    store,
    query: async (sql) => connection.prepare<[], Record<string, never>>(sql).all(),
    async sizes() {
      const rows = connection
        .prepare<[], { name: string; bytes: number }>('SELECT name, SUM(pgsize) AS bytes FROM dbstat GROUP BY name')
        .all()
      return new Map([...rows.map(({ name, bytes }) => [name, bytes] as const), ['total', statSync(file).size]])
    },
    async close() {
      connection.close()
      await store.close()
    },
  }
}

function open(file: string): Promise<RecordStore> {
  return openSqliteRecordStore({
    file,
    onFatal: (error) => {
      throw error
    },
  })
}

/** Indexes and triggers are made behind the rows, which takes a fraction of the time; the schema is that of the migrations. */
function fill(file: string, shape: Shape, progress: (line: string) => void): void {
  const db = new Database(file)
  db.pragma('journal_mode = OFF')
  db.pragma('synchronous = OFF')
  db.pragma('foreign_keys = OFF')
  db.pragma('cache_size = -3000000')
  const indexes = db
    .prepare<[], { name: string; sql: string }>(
      "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL",
    )
    .all()
  const triggers = db
    .prepare<[], { name: string; sql: string }>("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
    .all()
  for (const { name } of indexes) db.exec(`DROP INDEX ${name}`)
  for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`)
  for (const { table, sql } of fillings(shape, WORDS)) {
    const startedAt = performance.now()
    const { changes } = db.prepare(sql).run()
    progress(`${table}: ${changes} rows in ${Math.round((performance.now() - startedAt) / 1000)} s`)
  }
  for (const { name, sql } of indexes) {
    const startedAt = performance.now()
    db.exec(sql)
    progress(`${name} in ${Math.round((performance.now() - startedAt) / 1000)} s`)
  }
  for (const { sql } of triggers) db.exec(sql)
  db.close()
}
