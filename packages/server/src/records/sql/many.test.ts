import { describe, expect, test } from 'vitest'
import { AT_ONCE, prepareForMany, prepareForRows } from './many.ts'
import type { Asked, Query, QueryAnswer, Sql, SqlValue, Steps } from './sql.ts'

/** Answers each statement with one row: what it was asked with. */
const SQL = {
  prepare: (text: string) => ({
    *all(...values: SqlValue[]): Steps<unknown[]> {
      return ((yield { statement: { text, name: '' }, values }) as QueryAnswer).rows as unknown[]
    },
    *run(...values: SqlValue[]): Steps<{ changes: number }> {
      return { changes: ((yield { statement: { text, name: '' }, values }) as QueryAnswer).changes }
    },
  }),
} as unknown as Sql

function run<Value>(steps: Steps<Value>): { readonly value: Value; readonly asked: readonly Query[] } {
  const iterator = steps[Symbol.iterator]()
  const asked: Query[] = []
  let turn = iterator.next()
  while (turn.done !== true) {
    const query = turn.value as Exclude<Asked, readonly Asked[]>
    asked.push(query)
    turn = iterator.next({ rows: [query.values], changes: 2 })
  }
  return { value: turn.value, asked }
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1)
const placesIn = ({ statement }: Query): number => statement.text.split('?').length - 1

describe('prepareForMany', () => {
  const statement = prepareForMany<number>(SQL, 0, (list) => `DELETE FROM files WHERE day = ? AND file IN (${list})`)
  const asked = (values: number[]) => run(statement.run(values, 'today')).asked

  test('asks once for 250 values, and not at all for none', () => {
    expect(asked([])).toEqual([])
    const sizes = [1, 2, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE]
    expect(sizes.map((size) => asked(numbers(size)).length)).toEqual([1, 1, 1, 2, 3])
  })

  test('asks about each value once, behind what else is asked, and fills up with what nothing has', () => {
    const [one] = asked([7])
    expect(one?.values).toEqual(['today', 7])
    const [three] = asked([7, 8, 7, 9])
    expect(three?.values.slice(0, 4)).toEqual(['today', 7, 8, 9])
    expect(new Set(three?.values.slice(4))).toEqual(new Set([0]))
    const queries = asked(numbers(300))
    expect(queries.flatMap(({ values }) => values.slice(1)).filter((value) => value !== 0)).toEqual(numbers(300))
    expect(queries.map((query) => placesIn(query) - query.values.length)).toEqual([0, 0])
  })

  test('answers the rows and the changes of all', () => {
    expect(run(statement.all(numbers(300), 'today')).value).toHaveLength(2)
    expect(run(statement.run(numbers(300), 'today')).value).toBe(4)
  })
})

describe('prepareForRows', () => {
  const statement = prepareForRows(SQL, '(?, ?)', (rows) => `INSERT INTO claims (file, digest) VALUES ${rows}`)
  const asked = (count: number) => run(statement.run(numbers(count).map((file) => [file, `${file}`]))).asked

  test.each([0, 1, 2, 3, 100, 128, 129, 300])('takes %i rows, each once and in order, without any other', (count) => {
    const queries = asked(count)
    expect(queries.flatMap(({ values }) => values)).toEqual(numbers(count).flatMap((file) => [file, `${file}`]))
    expect(queries.map((query) => placesIn(query) - query.values.length)).toEqual(queries.map(() => 0))
  })

  test('asks once for 128 rows, and a few times for the rest', () => {
    expect([128, 256, 64, 100, 300].map((count) => asked(count).length)).toEqual([1, 2, 1, 3, 5])
  })
})
