import { createHash } from 'node:crypto'
import Database from 'better-sqlite3'
import { SQLITE_MIGRATIONS } from './migrations/sqlite.ts'

/** Values that are easily lost on the way between engines. */
const ODD_TEXTS = [
  '',
  'Ünïcödé 🛰️',
  'O\'Brien \\ "quoted"',
  '\\x00ff',
  'line\nfeed\ttab',
  '\u007f\u0001',
  '{"a":[null]}',
  '9007199254740993',
]
const ODD_BYTES = [Buffer.alloc(0), Buffer.from([0, 255, 92, 120]), Buffer.alloc(300_000, 7), Buffer.from('text')]
const ODD_NUMBERS = [0, 1, Number.MAX_SAFE_INTEGER]

interface Column {
  readonly name: string
  readonly type: 'INTEGER' | 'TEXT' | 'BLOB'
  readonly notnull: number
  readonly pk: number
}

/**
 * A database file of the newest schema with `rows` rows in every table, whatever tables that schema has: odd values, nulls wherever they
 * may be, rows that refer to each other as the schema asks, and two numbered tables whose last rows are gone.
 */
export function fillTables(file: string, rows: number): void {
  const db = new Database(file)
  db.pragma('journal_mode = WAL')
  // Files refer to files that come after them.
  db.pragma('foreign_keys = OFF')
  for (const migration of SQLITE_MIGRATIONS) db.exec(migration)
  db.pragma(`user_version = ${SQLITE_MIGRATIONS.length}`)
  const tables = db
    .prepare<[], { name: string; sql: string }>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    )
    .all()
  db.transaction(() => {
    // These rows bring counts of their own.
    const triggers = db
      .prepare<[], { name: string; sql: string }>("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
      .all()
    for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`)
    for (const { name, sql } of tables) fillTable(db, name, sql, rows)
    for (const numbered of ['dags', 'additions']) {
      db.exec(`UPDATE sqlite_sequence SET seq = seq + 1000 WHERE name = '${numbered}'`)
    }
    for (const { sql } of triggers) db.exec(sql)
  })()
  const broken = db.pragma('foreign_key_check')
  db.close()
  if (!Array.isArray(broken) || broken.length > 0) throw new Error(`Rows refer to nothing: ${JSON.stringify(broken)}`)
}

function fillTable(db: Database.Database, table: string, sql: string, rows: number): void {
  const columns = db.prepare<[string], Column>('SELECT name, type, "notnull", pk FROM pragma_table_info(?)').all(table)
  const foreign = new Set(
    db.prepare<[string], string>('SELECT "from" FROM pragma_foreign_key_list(?)').pluck().all(table),
  )
  const list = columns.map(({ name }) => `"${name}"`).join(', ')
  const insert = db.prepare(`INSERT INTO "${table}" (${list}) VALUES (${columns.map(() => '?').join(', ')})`)
  for (let row = 1; row <= rows; row += 1) {
    insert.run(
      columns.map((column, place) =>
        cellOf(column, { table, sql, row, rows, place, isForeign: foreign.has(column.name) }),
      ),
    )
  }
}

interface Place {
  readonly table: string
  readonly sql: string
  readonly row: number
  readonly rows: number
  readonly place: number
  readonly isForeign: boolean
}

/** Every table has rows 1 to `rows`, so a reference leads to the row of the same number, or the next of its own table. */
function cellOf(column: Column, { table, sql, row, rows, place, isForeign }: Place): string | number | Buffer | null {
  const isNullable = column.notnull === 0 && column.pk === 0
  if (isNullable && (row + place) % 4 === 0) return null
  if (isForeign) return column.name === 'composed_into' ? (row % rows) + 1 : row
  const allowed = new RegExp(`CHECK \\("?${column.name}"? IN \\(([^)]*)\\)\\)`).exec(sql)?.[1]
  if (allowed !== undefined) {
    const values = allowed.split(',').map((text) => text.trim().slice(1, -1))
    return values[row % values.length] ?? null
  }
  const seed = row * 31 + place
  switch (column.type) {
    case 'INTEGER':
      return column.pk > 0 ? row : (ODD_NUMBERS[seed % 7] ?? seed * 1_000_003)
    case 'BLOB':
      // What a key may hold is bounded by what PostgreSQL finds in an index.
      return column.pk > 0
        ? digest(`${table} ${seed}`)
        : (ODD_BYTES[seed % 37] ?? Buffer.concat([digest(`${table} ${seed}`), Buffer.from([0, 255])]))
    case 'TEXT':
      return column.pk === 0 && isNullable
        ? (ODD_TEXTS[seed % ODD_TEXTS.length] ?? null)
        : `${ODD_TEXTS[seed % ODD_TEXTS.length]}${digest(`${table} ${seed}`).toString('hex')}`
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
