import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Connection, openConnection } from './connection.ts'
import { failureMark } from './failure-mark.ts'
import { openDurable } from './open-durable.ts'

describe('openDurable', () => {
  let dir: string
  let file: string
  let source: Connection
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'lade-durable-'))
    file = join(dir, 'lade.db')
    source = openConnection(join(dir, 'source.db'))
    source.exec('CREATE TABLE rows (bytes BLOB NOT NULL)')
  })
  afterEach(() => {
    source.close()
    rmSync(dir, { recursive: true, force: true })
  })

  const insert = (connection: Connection, count = 20): void => {
    for (let row = 0; row < count; row += 1)
      connection.prepare('INSERT INTO rows VALUES (?)').run(Buffer.alloc(9000, row))
  }
  const countOf = (connection: Connection): unknown => connection.prepare('SELECT COUNT(*) FROM rows').pluck().get()
  /** What a process leaves that ends without closing its files. */
  const leave = (): void => {
    for (const suffix of ['', '-wal']) copyFileSync(join(dir, `source.db${suffix}`), `${file}${suffix}`)
  }

  it('moves what a process that was killed left in the log into the database, and starts with an empty log', () => {
    insert(source)
    leave()
    const sizeBytes = statSync(file).size
    const connection = openDurable(file)
    expect(countOf(connection)).toBe(20)
    expect(statSync(`${file}-wal`).size).toBe(0)
    expect(statSync(file).size).toBeGreaterThan(sizeBytes)
    expect(connection.pragma('integrity_check', { simple: true })).toBe('ok')
    connection.close()
  })

  it('takes a log whose pages the database has already, in part', () => {
    insert(source)
    source.pragma('wal_checkpoint(PASSIVE)')
    insert(source)
    leave()
    const connection = openDurable(file)
    expect(countOf(connection)).toBe(40)
    expect(connection.pragma('integrity_check', { simple: true })).toBe('ok')
    connection.close()
  })

  it('leaves the log where it is when others use it, and what they write goes on', () => {
    leave()
    const other = openDurable(file)
    insert(other)
    const connection = openDurable(file)
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(20 * 9000)
    insert(other)
    insert(connection)
    expect([countOf(other), countOf(connection)]).toEqual([60, 60])
    other.close()
    expect(connection.pragma('integrity_check', { simple: true })).toBe('ok')
    connection.close()
  })

  it('removes the mark of a failed disk once everything is durable', () => {
    insert(source)
    leave()
    failureMark(file).set()
    const connection = openDurable(file)
    expect([countOf(connection), failureMark(file).isSet()]).toEqual([20, false])
    connection.close()
  })

  it('error: refuses to start beside a process that lives on after the disk failed', () => {
    leave()
    const other = openDurable(file)
    failureMark(file).set()
    expect(() => openDurable(file, { othersEndMs: 50 })).toThrow(/another process still uses them\. Stop every process/)
    expect(failureMark(file).isSet()).toBe(true)
    other.close()
    openDurable(file, { othersEndMs: 50 }).close()
    expect(failureMark(file).isSet()).toBe(false)
  })

  it('makes a database where there is none', () => {
    openDurable(file).close()
    expect(existsSync(file)).toBe(true)
  })
})
