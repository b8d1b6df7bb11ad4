import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ALICE, commitAtOnce, digestOf, NOW, upload } from '../../conformance/case.ts'
import { prepareReads } from '../../sql/reads.ts'
import { openConnection, openForReading } from './connection.ts'
import { openCopy, openImmutable } from './read-only-database.ts'
import { type ReadingDatabase, readingOn } from './reading-database.ts'
import { openSqliteRecordStore } from './sqlite-record-store.ts'
import { runNow } from './sqlite-sql.ts'

const KEY = `sha256:${digestOf('inline')}`

/** What readers ask for, of several shapes: rows with bytes, lists, numbers, nothing. */
function answersOf(database: ReadingDatabase): unknown[] {
  const reads = prepareReads(database.sql)
  return database.inSnapshot(() => [
    runNow(reads['files.servingAtOnce']({ key: KEY, now: NOW })),
    runNow(reads['files.serving']({ key: KEY, now: NOW })),
    runNow(reads['files.list']({ principal: ALICE, now: NOW, limit: 10, ended: 'live' })),
    runNow(reads['quotas.usage']({ principal: ALICE, today: '2026-11-21', fromDay: '2026-11-01', now: NOW })),
    runNow(reads['quotas.checkDrift'](undefined)),
    runNow(reads['instances.list'](undefined)),
    runNow(reads['tokens.revocation']('none')),
  ])
}

describe('a database beside which nothing can be written', () => {
  let dir: string
  let file: string
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'lade-read-only-'))
    file = join(dir, 'lade.db')
    const store = await openSqliteRecordStore({ file, onFatal: () => {} })
    for (const content of ['inline', 'blob']) await commitAtOnce(store, upload({ content }))
    await store.instances.register({ instanceId: 'one', now: NOW })
    await store.close()
  })
  afterEach(() => rmSync(dir, { recursive: true, force: true }))

  it('answers every read as an ordinary connection does', async () => {
    const immutable = await openImmutable(file)
    const answers = answersOf(immutable)
    immutable.close()
    expect(readdirSync(dir)).toEqual(['lade.db'])
    const ordinary = readingOn(openForReading(file))
    expect(answers).toEqual(answersOf(ordinary))
    expect(answers[2]).toHaveLength(2)
    ordinary.close()
  })

  it('has what is in the log alone, in a copy that goes with it', () => {
    const writing = openConnection(file)
    writing.exec("INSERT INTO instances (id, started_at) VALUES ('in the log', 1)")
    const crashed = join(dir, 'crashed.db')
    for (const end of ['', '-wal']) copyFileSync(`${file}${end}`, `${crashed}${end}`)
    writing.close()
    const copy = openCopy(crashed)
    expect(runNow(prepareReads(copy.sql)['instances.list'](undefined))).toEqual(['in the log', 'one'])
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith('lade-records-'))
    copy.close()
    const after = readdirSync(tmpdir()).filter((name) => name.startsWith('lade-records-'))
    expect(before.length - after.length).toBe(1)
    expect(existsSync(`${crashed}-shm`)).toBe(false)
  })

  it('is outdated as soon as somebody has written to it', async () => {
    const immutable = await openImmutable(file)
    expect(immutable.isOutdated()).toBe(false)
    const writing = openConnection(file)
    writing.exec("INSERT INTO instances (id, started_at) VALUES ('two', 1)")
    expect(immutable.isOutdated()).toBe(true)
    immutable.close()
    writing.close()
  })

  it('error: is not opened when its schema is of another version', async () => {
    const writing = openConnection(file)
    writing.pragma('user_version = 1')
    writing.pragma('wal_checkpoint(TRUNCATE)')
    writing.close()
    await expect(openImmutable(file)).rejects.toThrow(/schema version 1 and must be upgraded to/)
  })
})
