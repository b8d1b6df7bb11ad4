import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { refuseSetAside, setRecordsAside } from './set-aside.ts'
import { openSqliteRecordStore } from './sqlite-record-store.ts'

const NOW = new Date('2026-11-21T22:52:00.123Z')
const WHERE = 'the database lade at db.example'

let dir = ''
let file = ''
const open = () => openSqliteRecordStore({ file, onFatal: () => {} })

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'lade-aside-'))
  file = join(dir, 'lade.db')
  const records = await open()
  await records.secrets.replace({ name: 'kept', value: 'still here' })
  await records.close()
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

describe('setRecordsAside', () => {
  test('leaves all of the database under another name, and at the old one what no service starts on', async () => {
    const aside = setRecordsAside({ file, where: WHERE, now: NOW })
    expect(aside).toBe(`${file}.moved-2026-11-21T22-52-00Z`)
    expect(readdirSync(dir).sort()).toEqual(['lade.db', 'lade.db.moved-2026-11-21T22-52-00Z'])
    expect(readFileSync(file, 'utf8')).toContain(WHERE)
    await expect(open()).rejects.toThrow(
      /have been moved to the database lade at db.example.*rename that file to lade.db/,
    )
    // A version that knows nothing of this does not start either.
    expect(() => new Database(file).pragma('user_version')).toThrow(/not a database/)
  })

  test('is undone by one rename', async () => {
    renameSync(setRecordsAside({ file, where: WHERE, now: NOW }), file)
    const records = await open()
    expect(await records.secrets.find('kept')).toBe('still here')
    await records.close()
  })

  test('error: refuses while somebody has the file open, and leaves it', async () => {
    const records = await open()
    expect(() => setRecordsAside({ file, where: WHERE, now: NOW })).toThrow()
    expect(await records.secrets.find('kept')).toBe('still here')
    await records.close()
    const again = await open()
    await again.close()
  })

  test('lets be whatever else stands there', () => {
    for (const text of ['', 'The records', 'SQLite format 3']) {
      writeFileSync(file, text)
      refuseSetAside(file)
    }
    refuseSetAside(join(dir, 'nothing'))
    refuseSetAside(dir)
  })
})
