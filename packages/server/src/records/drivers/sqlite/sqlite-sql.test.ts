import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Connection } from './connection.ts'
import { migrate } from './migrate.ts'
import { runNow, sqliteSql, withLastingPlan } from './sqlite-sql.ts'

let connection: Connection
beforeEach(() => {
  connection = new Database(':memory:')
  migrate(connection)
})
afterEach(() => {
  connection.close()
})

const JOINED = `SELECT files.sequence FROM files JOIN objects ON objects.id = files.object
  WHERE principal = ? AND objects.sha256 = ? AND ended_at IS NULL LIMIT ?`

test('a statement that joins tables is not prepared anew for each run', () => {
  const [lasting, native] = [
    sqliteSql(connection).prepare<[string, string, number]>(JOINED),
    connection.prepare(JOINED),
  ]
  const run = { lasting: () => runNow(lasting.all('a', 'b', 10)), native: () => native.all('a', 'b', 10) }
  const best = { lasting: Number.POSITIVE_INFINITY, native: Number.POSITIVE_INFINITY }
  for (let round = 0; round < 20; round += 1) {
    for (const name of ['lasting', 'native'] as const) {
      const begun = performance.now()
      for (let turn = 0; turn < 100; turn += 1) run[name]()
      best[name] = Math.min(best[name], performance.now() - begun)
    }
  }
  expect(best.native / best.lasting).toBeGreaterThan(2)
})

test('a plus sign changes no value of a parameter, and not the index that is used', () => {
  const values = [null, 1, 1.5, 'text', Buffer.from([1, 2])]
  const columns = values.map((_, index) => `? AS v${index}`).join(', ')
  expect(
    connection
      .prepare(`SELECT ${columns.replaceAll('?', '+?')}`)
      .raw()
      .get(values),
  ).toEqual(values)
  const planOf = (text: string) => connection.prepare(`EXPLAIN QUERY PLAN ${text}`).all('a', 'b', 10)
  expect(planOf(withLastingPlan(JOINED))).toEqual(planOf(JOINED))
})

test('parameters that are compared and limits get a plus sign, inserted values do not', () => {
  expect(withLastingPlan('SELECT 1 FROM t WHERE a = ? AND b > ? AND c = :c LIMIT ? OFFSET :skip')).toBe(
    'SELECT 1 FROM t WHERE a = +? AND b > ? AND c = +:c LIMIT +? OFFSET +:skip',
  )
  expect(withLastingPlan('INSERT INTO t (a, b) VALUES (?, :b)')).toBe('INSERT INTO t (a, b) VALUES (?, :b)')
})
