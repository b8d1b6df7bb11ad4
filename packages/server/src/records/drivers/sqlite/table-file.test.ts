import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { moveRecords } from '../../../storage-move/move-records.ts'
import { RunningTableSum, type TableSource } from '../../table-transfer.ts'
import { fillTables } from '../../testing-filled-tables.ts'
import { createSqliteTableFile, tablesOfSchema } from './table-file.ts'
import { openSqliteTables } from './table-source.ts'

const ROWS = 30

let file = ''
let copy = ''

beforeEach(() => {
  const dir = mkdtempSync(join(tmpdir(), 'lade-tables-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  file = join(dir, 'lade.db')
  copy = join(dir, 'copy.db')
  fillTables(file, ROWS)
})

async function copyFrom(source: TableSource, signal = new AbortController().signal) {
  const target = createSqliteTableFile({ file: copy })
  try {
    return await moveRecords({ source, target, place: copy, secrets: [], now: new Date(0), signal, onRows: () => {} })
  } finally {
    await source.close()
  }
}

/** Everything in a file but the order of its pages. */
function contentOf(path: string) {
  const source = openSqliteTables({ file: path, isReadOnly: true })
  const sums = source.tables.map((table) => {
    const sum = new RunningTableSum()
    for (const rows of source.batches(table)) sum.addRows(rows)
    return [table.name, sum.sum()]
  })
  const numbers = [...source.lastNumbers()].sort()
  source.close()
  const database = new Database(path, { readonly: true })
  const schema = database.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name').all()
  const facts = {
    version: database.pragma('user_version', { simple: true }),
    integrity: database.pragma('integrity_check', { simple: true }),
    broken: database.pragma('foreign_key_check'),
  }
  database.close()
  return { sums, numbers, schema, facts }
}

describe('createSqliteTableFile', () => {
  test('has every row, index, trigger and number of the records that it was filled from', async () => {
    await copyFrom(openSqliteTables({ file, isReadOnly: true }))
    expect(contentOf(copy)).toEqual(contentOf(file))
    expect(contentOf(copy).facts).toMatchObject({ integrity: 'ok', broken: [] })
    expect(statSync(copy).mode & 0o777).toBe(0o600)
  })

  test('has the records of one moment, whatever is written meanwhile', async () => {
    const before = contentOf(file)
    const source = openSqliteTables({ file, isReadOnly: true })
    const writer = new Database(file)
    writer.pragma('foreign_keys = OFF')
    writer.exec('DELETE FROM tokens; DELETE FROM files')
    writer.close()
    await copyFrom(source)
    expect(contentOf(copy)).toEqual(before)
  })

  test('leaves no file when it ends before its end', async () => {
    await expect(copyFrom(openSqliteTables({ file, isReadOnly: true }), AbortSignal.abort())).rejects.toThrow()
    expect(() => statSync(copy)).toThrow(/ENOENT/)
  })

  test('error: refuses tables that the schema does not have', async () => {
    const source = openSqliteTables({ file, isReadOnly: true })
    const tables = [...source.tables, { name: 'photos', columns: [], key: [] }]
    await expect(copyFrom({ ...source, tables })).rejects.toThrow(/has no table photos/)
  })

  test('knows the tables of the schema without a file', () => {
    const source = openSqliteTables({ file, isReadOnly: true })
    expect(tablesOfSchema()).toEqual(source.tables)
    source.close()
  })
})
