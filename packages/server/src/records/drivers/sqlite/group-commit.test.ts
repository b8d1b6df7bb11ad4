import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Connection, openConnection } from './connection.ts'
import { groupCommitter } from './group-commit.ts'
import { migrate } from './migrate.ts'
import type { WriteCall } from './writer-protocol.ts'

const CALLS: readonly WriteCall[] = ['a', 'b', 'c'].map((instanceId) => ({
  name: 'instances.register',
  input: { instanceId, now: 1 },
}))

describe('a group that cannot be committed', () => {
  let dir: string
  let connection: Connection
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'lade-group-'))
    connection = openConnection(join(dir, 'lade.db'))
    migrate(connection)
  })
  afterEach(() => {
    connection.close()
    rmSync(dir, { recursive: true, force: true })
  })

  /** The connection, whose first statement of this text fails with `code`; counts how often it was run. */
  function failing(sql: string, code: string): { db: Connection; runs: () => number } {
    let runs = 0
    const prepare = (text: string) => {
      const statement = connection.prepare(text)
      if (text !== sql) return statement
      const run = () => {
        runs += 1
        if (runs === 1) throw Object.assign(new Error(`injected: ${code}`), { code })
        return statement.run()
      }
      return { run }
    }
    const db = new Proxy(connection, {
      get(target, name) {
        if (name === 'prepare') return prepare
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    return { db, runs: () => runs }
  }

  test.each([
    ['COMMIT', 'SQLITE_IOERR_FSYNC'],
    ['COMMIT', 'SQLITE_CORRUPT'],
    ['BEGIN IMMEDIATE', 'SQLITE_BUSY'],
  ])('error: %s fails with %s, so every write has failed and nothing is run again', (sql, code) => {
    const { db, runs } = failing(sql, code)
    const replies = groupCommitter(db)(CALLS)
    expect(replies).toEqual(CALLS.map(() => ({ failure: { code, message: `injected: ${code}` } })))
    expect(runs()).toBe(1)
    expect(connection.prepare('SELECT COUNT(*) FROM instances').pluck().get()).toBe(0)
  })

  test('is run again one by one when there was no room for all of it', () => {
    const { db, runs } = failing('COMMIT', 'SQLITE_FULL')
    const replies = groupCommitter(db)(CALLS)
    expect(replies).toEqual(CALLS.map(() => ({ output: undefined })))
    expect(runs()).toBe(1 + CALLS.length)
    expect(connection.prepare('SELECT COUNT(*) FROM instances').pluck().get()).toBe(3)
  })
})
