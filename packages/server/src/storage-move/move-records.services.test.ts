import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { startCommitRelay } from '../../../../services/commit-relay.ts'
import { type Postgres, startPostgres } from '../../../../services/postgres.ts'
import { openPostgresRecordStore } from '../records/drivers/postgres/postgres-record-store.ts'
import { holdPostgresStill } from '../records/drivers/postgres/standstill.ts'
import { tablesOf } from '../records/drivers/postgres/table-catalogue.ts'
import { openPostgresTableTarget } from '../records/drivers/postgres/table-target.ts'
import { openSqliteTables } from '../records/drivers/sqlite/table-source.ts'
import { RunningTableSum, type TableSource } from '../records/table-transfer.ts'
import { fillTables } from '../records/testing-filled-tables.ts'
import { type MovedRecords, type MoveRecordsDeps, moveRecords } from './move-records.ts'
import { MoveRefused } from './move-refused.ts'

const ROWS = 40
const NOW = new Date('2026-11-21T12:00:00Z')

let dir = ''
let file = ''
let postgres: Postgres
let url = ''
let admin: Client
let databases = 0

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'lade-move-'))
  file = join(dir, 'lade.db')
  fillTables(file, ROWS)
  postgres = await startPostgres({ fsync: false })
})

afterAll(async () => {
  await postgres?.discard()
  rmSync(dir, { recursive: true, force: true })
})

/** A database of its own for each test, as a service leaves it that was started and stopped. */
beforeEach(async () => {
  databases += 1
  url = await postgres.createDatabase(`move_${databases}`)
  await (await openPostgresRecordStore({ url, maxConnections: 2 })).close()
  admin = new Client({ connectionString: url })
  admin.on('error', () => {})
  await admin.connect()
  onTestFinished(() => admin.end())
})

async function move(overrides: Partial<MoveRecordsDeps> = {}, to = url): Promise<MovedRecords> {
  const source = overrides.source ?? openSqliteTables({ file })
  const target = overrides.target ?? (await openPostgresTableTarget({ url: to }))
  try {
    const secrets = [{ name: 'token key HS256', value: 'the key' }]
    const signal = new AbortController().signal
    return await moveRecords({ place: 'it', secrets, now: NOW, signal, onRows: () => {}, ...overrides, source, target })
  } finally {
    await target.close()
    source.close()
  }
}

async function ask<Row extends object>(text: string): Promise<Row[]> {
  return (await admin.query<Row>(text)).rows
}

/** Everything in the catalogue that guards or finds rows. */
async function guards(): Promise<unknown> {
  return [
    await ask(`SELECT conrelid::regclass::text AS owner, conname, pg_get_constraintdef(oid) FROM pg_constraint
      WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2`),
    await ask("SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1"),
    await ask('SELECT tgname, tgenabled, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1'),
  ]
}

async function rowCount(): Promise<number> {
  const target = await openPostgresTableTarget({ url })
  const { occupied } = await target.state()
  await target.close()
  return occupied.length
}

describe('the two schemas', () => {
  test('have the same tables, columns and keys', async () => {
    const source = openSqliteTables({ file })
    const inOrder = (tables: TableSource['tables']) =>
      tables.map((table) => ({ ...table, columns: table.columns.toSorted((a, b) => (a.name < b.name ? -1 : 1)) }))
    expect(inOrder(await tablesOf(admin))).toEqual(inOrder(source.tables))
    source.close()
  })
})

describe('moveRecords', () => {
  test('copies every row of every table, value for value, with the key, and puts every guard back', async () => {
    const before = await guards()
    const source = openSqliteTables({ file })
    const { tables } = source
    source.close()
    expect(tables.length).toBeGreaterThan(30)
    expect(await move()).toEqual({ outcome: 'copied', tables: tables.length, rows: tables.length * ROWS })
    expect(await guards()).toEqual(before)

    const old = new Database(file, { readonly: true })
    onTestFinished(() => void old.close())
    for (const { name, columns, key } of tables) {
      const order = key.map((column) => `"${name}"."${column}"`).join(', ')
      const list = columns.map((column) => `"${column.name}"`).join(', ')
      const isBeside = { marks: "WHERE name <> 'moved here'", secrets: "WHERE name <> 'token key HS256'" }[name] ?? ''
      const { rows } = await admin.query({
        text: `SELECT ${list} FROM "${name}" ${isBeside} ORDER BY ${order}`,
        rowMode: 'array',
      })
      const numbers = columns.map(({ kind }) => kind === 'number')
      const found = rows.map((row: unknown[]) =>
        row.map((cell, at) => (numbers[at] && cell !== null ? Number(cell) : cell)),
      )
      expect(found, name).toEqual(old.prepare(`SELECT ${list} FROM "${name}" ORDER BY ${order}`).raw().all())
    }
    expect(await ask("SELECT value FROM secrets WHERE name = 'token key HS256'")).toEqual([{ value: 'the key' }])
  })

  test('lets every number go on behind the last one that was ever handed out', async () => {
    await move()
    const next = async (table: string, column: string) =>
      (await ask<{ next: string }>(`SELECT nextval(pg_get_serial_sequence('${table}', '${column}')) AS next`))[0]?.next
    expect(await next('objects', 'id')).toBe(String(ROWS + 1))
    expect(await next('files', 'sequence')).toBe(String(ROWS + 1))
    expect(await next('audits', 'id')).toBe(String(ROWS + 1))
    expect(await next('additions', 'id')).toBe(String(ROWS + 1001))
    expect(await next('dags', 'id')).toBe(String(ROWS + 1001))
  })

  test('may be ended at any batch, leaves nothing, and is run again', async () => {
    const before = await guards()
    let batches = 0
    const count = openSqliteTables({ file })
    for (const table of count.tables) for (const _ of count.batches(table)) batches += 1
    count.close()
    for (let end = 0; end < batches; end += 5) {
      const ending = new AbortController()
      let written = 0
      const onRows = () => {
        if (written++ === end) ending.abort(new Error('enough'))
      }
      await expect(move({ signal: ending.signal, onRows }), `after ${end}`).rejects.toThrow('enough')
      expect(await rowCount(), `after ${end}`).toBe(0)
    }
    expect(await guards()).toEqual(before)
    expect((await move()).outcome).toBe('copied')
  })

  test('error: a connection that is cut at any batch leaves nothing, and it is run again', async () => {
    const before = await guards()
    for (const end of [0, 3, 11, 20, 31]) {
      let written = 0
      const cut = async () => {
        await admin.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE '%migrate%'",
        )
      }
      const moving = move({
        onRows() {
          if (written++ === end) void cut()
        },
      })
      await expect(moving, `after ${end}`).rejects.toMatchObject({ code: 'storage_failed' })
      expect(await rowCount(), `after ${end}`).toBe(0)
    }
    expect(await guards()).toEqual(before)
    expect((await move()).outcome).toBe('copied')
  })

  test.each([
    ['before', 'copied'],
    ['after', 'there'],
  ] as const)('error: cut %s its commit it fails, and finds out when it is run again: %s', async (cut, outcome) => {
    const relay = await startCommitRelay(postgres.port)
    onTestFinished(() => relay.discard())
    const through = new URL(url)
    through.port = String(relay.port)
    const cutting = relay.cutNext(cut)
    await expect(move({}, through.href)).rejects.toMatchObject({ code: 'storage_failed' })
    await cutting
    expect((await move()).outcome).toBe(outcome)
    expect((await move()).outcome).toBe('there')
  })

  test('error: keeps nothing of rows that the database changes', async () => {
    await admin.query(`CREATE FUNCTION more() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.bytes := NEW.bytes + 1; RETURN NEW; END';
      CREATE TRIGGER more BEFORE INSERT ON usage FOR EACH ROW EXECUTE FUNCTION more()`)
    await expect(move()).rejects.toThrow(/The copy of the table usage differs/)
    expect(await rowCount()).toBe(0)
  })

  test('error: keeps nothing when a row has what the database cannot hold', async () => {
    const odd = join(dir, 'nul.db')
    fillTables(odd, 3)
    const old = new Database(odd)
    old.prepare("UPDATE tokens SET label = 'a' || char(0) || 'b' ").run()
    old.close()
    await expect(move({ source: openSqliteTables({ file: odd }) })).rejects.toMatchObject({ code: 'storage_failed' })
    expect(await rowCount()).toBe(0)
  })

  test('refuses a database that has data of its own, or of other records', async () => {
    await admin.query("INSERT INTO objects (sha256, size_bytes, place) VALUES ('aa', 1, 'none')")
    await expect(move()).rejects.toThrow(MoveRefused)
    await admin.query('TRUNCATE objects CASCADE')
    const other = join(dir, 'other.db')
    fillTables(other, 5)
    await move({ source: openSqliteTables({ file: other }) })
    await expect(move()).rejects.toThrow(/another move/)
    expect((await move({ source: openSqliteTables({ file: other }) })).outcome).toBe('there')
  })

  test('refuses a database whose tables are others, and changes nothing', async () => {
    await admin.query('ALTER TABLE tokens DROP COLUMN label')
    await expect(move()).rejects.toThrow(/The table tokens has the columns/)
    await admin.query('DROP TABLE nonces')
    await expect(move()).rejects.toThrow(/no table nonces/)
  })
})

describe('holdPostgresStill', () => {
  test('keeps every instance from saying that it is there, until it is closed', async () => {
    const still = await holdPostgresStill({ url })
    await admin.query('SET lock_timeout = 100')
    const register = () => admin.query("INSERT INTO instances (id, started_at) VALUES ('a', 1)")
    await expect(register()).rejects.toThrow(/lock timeout/)
    expect(await ask('SELECT id FROM instances')).toEqual([])
    await still.close()
    await vi.waitFor(register, 10_000)
  })
})

describe('openSqliteTables', () => {
  test('keeps everybody from writing until it is closed, and only then', () => {
    const source = openSqliteTables({ file })
    const other = new Database(file, { timeout: 50 })
    onTestFinished(() => void other.close())
    const write = () => other.prepare('UPDATE marks SET value = value').run()
    expect(write).toThrow(/locked/)
    source.close()
    expect(write().changes).toBe(ROWS)
    const looking = openSqliteTables({ file, isHeld: false })
    expect(write().changes).toBe(ROWS)
    looking.close()
  })

  test('refuses whole numbers that are not safe', () => {
    const big = join(dir, 'big.db')
    fillTables(big, 2)
    const old = new Database(big)
    old.exec('UPDATE usage SET bytes = 9007199254740993')
    old.close()
    const source = openSqliteTables({ file: big })
    onTestFinished(() => source.close())
    const usage = source.tables.find(({ name }) => name === 'usage')
    expect(() => [...source.batches(usage ?? { name: '', columns: [], key: [] })]).toThrow(/usage/)
  })
})

describe('RunningTableSum', () => {
  test('tells rows apart by value, order and place', () => {
    const sumOf = (...rows: (string | number | null | Uint8Array)[][]) => {
      const sum = new RunningTableSum()
      for (const row of rows) sum.addRows([row])
      return sum.sum().sha256
    }
    const sums = [
      sumOf(['a', 'b']),
      sumOf(['b', 'a']),
      sumOf(['a'], ['b']),
      sumOf(['b'], ['a']),
      sumOf(['ab']),
      sumOf([1]),
      sumOf(['1']),
      sumOf([null]),
      sumOf(['null']),
      sumOf([Buffer.from('a')]),
    ]
    expect(new Set(sums).size).toBe(sums.length)
  })
})
