import { describe, expect, test } from 'vitest'
import type { PreparedQuery, Query, QueryAnswer } from '../../sql/sql.ts'
import { askInSets, setFormOf } from './query-sets.ts'

const BOUND: PreparedQuery = { name: 'q1', text: 'SELECT object FROM names WHERE name = $1 AND view = $2' }
const ADD: PreparedQuery = { name: 'q2', text: 'INSERT INTO objects (sha256, size_bytes) VALUES ($1, $2) RETURNING id' }

function opened(answer: (query: Query) => QueryAnswer) {
  const asked: Query[] = []
  const ask = askInSets(async (query) => {
    asked.push(query)
    return answer(query)
  })
  return { ask, asked }
}

describe('askInSets', () => {
  test('asks the same question about several things once, and gives each its own rows', async () => {
    const { ask, asked } = opened(() => ({
      rows: [
        { of_place: 1, object: 7 },
        { of_place: 0, object: 5 },
        { of_place: 1, object: 8 },
      ],
      changes: 3,
    }))
    const ofA = ask({ statement: BOUND, values: ['a', 'bytes'] })
    const ofB = ask({ statement: BOUND, values: ['b', 'bytes'] })
    expect(await Promise.all([ofA, ofB])).toEqual([
      { rows: [{ object: 5 }], changes: 1 },
      { rows: [{ object: 7 }, { object: 8 }], changes: 2 },
    ])
    expect(asked).toEqual([
      {
        statement: {
          name: 'q1x2',
          text:
            'SELECT 0 AS of_place, one.* FROM (SELECT object FROM names WHERE name = $1 AND view = $2) AS one UNION ALL ' +
            'SELECT 1 AS of_place, one.* FROM (SELECT object FROM names WHERE name = $3 AND view = $4) AS one',
        },
        values: ['a', 'bytes', 'b', 'bytes'],
      },
    ])
  })

  test('asks each kind by itself, and what is alone as it is', async () => {
    const { ask, asked } = opened(() => ({ rows: [], changes: 0 }))
    const values = ['a', 'bytes']
    const other = { name: 'q3', text: 'SELECT 1 FROM parts WHERE whole = $1' }
    await Promise.all([BOUND, other, BOUND].map((statement) => ask({ statement, values })))
    expect(asked.map(({ statement }) => statement.name)).toEqual(['q1x2', 'q3'])
    await ask({ statement: BOUND, values })
    expect(asked.at(-1)).toEqual({ statement: BOUND, values })
  })

  test('has sets of few sizes', async () => {
    const { ask, asked } = opened(() => ({ rows: [], changes: 0 }))
    await Promise.all(Array.from({ length: 45 }, () => ask({ statement: BOUND, values: ['a', 'bytes'] })))
    expect(asked.map(({ statement }) => statement.name)).toEqual(['q1x16', 'q1x16', 'q1x8', 'q1x4', 'q1'])
  })

  test('inserts several rows at once, and gives each its number', async () => {
    const { ask, asked } = opened(() => ({
      rows: [
        { id: 3, of_first: 'a' },
        { id: 4, of_first: 'b' },
      ],
      changes: 2,
    }))
    const insert = (sha256: string) => ask({ statement: ADD, values: [sha256, 1] })
    expect(await Promise.all([insert('a'), insert('b')])).toEqual([
      { rows: [{ id: 3 }], changes: 1 },
      { rows: [{ id: 4 }], changes: 1 },
    ])
    expect(asked[0]?.statement.text).toBe(
      'INSERT INTO objects (sha256, size_bytes) VALUES ($1, $2), ($3, $4) RETURNING id, sha256 AS of_first',
    )
  })

  test('error: never gives a row the number of another one', async () => {
    const { ask } = opened(() => ({
      rows: [
        { id: 3, of_first: 'b' },
        { id: 4, of_first: 'a' },
      ],
      changes: 2,
    }))
    const both = Promise.all(['a', 'b'].map((sha256) => ask({ statement: ADD, values: [sha256, 1] })))
    await expect(both).rejects.toThrow('inserted rows are answered in another order')
  })

  test('error: what a set fails with is told to all of it, and to no other', async () => {
    const { ask } = opened(({ statement }) => {
      if (statement.name === 'q1x2') throw new Error('refused')
      return { rows: [], changes: 1 }
    })
    const asks = [BOUND, ADD, BOUND].map((statement) => ask({ statement, values: ['a', 'bytes'] }))
    expect((await Promise.allSettled(asks)).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected'])
  })
})

describe('setFormOf', () => {
  test('repeats what a conflict changes once', () => {
    const text =
      'INSERT INTO usage (day, bytes) VALUES ($2, $1) ON CONFLICT (day) DO UPDATE SET bytes = usage.bytes + excluded.bytes'
    expect(setFormOf(text)?.textFor(2)).toBe(
      'INSERT INTO usage (day, bytes) VALUES ($2, $1), ($4, $3) ON CONFLICT (day) DO UPDATE SET bytes = usage.bytes + excluded.bytes',
    )
  })

  test.each([
    ['a change', 'UPDATE files SET ended_at = $1 WHERE sequence = $2'],
    ['a row that may be there', 'INSERT INTO names (name) VALUES ($1) ON CONFLICT DO NOTHING'],
    [
      'a row that a conflict may leave as it is',
      'INSERT INTO a (b) VALUES ($1) ON CONFLICT (b) DO UPDATE SET c = 1 WHERE a.c = 2',
    ],
    ['a row that is computed', 'INSERT INTO a (b) VALUES (lower($1))'],
    ['a row that is not known by its first value', "INSERT INTO a (b, c) VALUES ('x', $1) RETURNING c"],
    ['a question about nothing', 'SELECT last_value FROM files_sequence'],
  ])('leaves %s alone', (_, text) => {
    expect(setFormOf(text)).toBeUndefined()
  })
})
