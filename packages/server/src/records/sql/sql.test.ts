import { describe, expect, test } from 'vitest'
import { type Answered, nothing, type Query, type QueryAnswer, type Steps, together } from './sql.ts'

const query = (name: string): Query => ({ statement: { name, text: name }, values: [] })
const answer = (row: string): QueryAnswer => ({ rows: [row], changes: 0 })

/** Steps that ask these one after the other, and answer all rows. */
function* asking(...names: readonly string[]): Steps<unknown[]> {
  const rows: unknown[] = []
  for (const name of names) {
    const { rows: answered } = (yield query(name)) as QueryAnswer
    rows.push(...answered)
  }
  return rows
}

describe('together', () => {
  test('asks for all at the same time, each step of them in its order', () => {
    const iterator = together(asking('a1', 'a2'), nothing(), asking('b1'))[Symbol.iterator]()
    const nextOf = (...answers: readonly Answered[]) => iterator.next(answers)
    expect(iterator.next()).toEqual({ done: false, value: [query('a1'), query('b1')] })
    expect(nextOf(answer('A1'), answer('B1'))).toEqual({ done: false, value: [query('a2')] })
    expect(nextOf(answer('A2'))).toEqual({ done: true, value: [['A1', 'A2'], undefined, ['B1']] })
  })

  test('may be part of what is asked together', () => {
    const iterator = together(together(asking('a'), asking('b')), asking('c'))[Symbol.iterator]()
    expect(iterator.next().value).toEqual([[query('a'), query('b')], query('c')])
    const end = iterator.next([[answer('A'), answer('B')], answer('C')])
    expect(end).toEqual({ done: true, value: [[['A'], ['B']], ['C']] })
  })

  test('asks nothing of an engine that has answered already', () => {
    expect(together(nothing(), nothing())[Symbol.iterator]().next()).toEqual({
      done: true,
      value: [undefined, undefined],
    })
  })
})
