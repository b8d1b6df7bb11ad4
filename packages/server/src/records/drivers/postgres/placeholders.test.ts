import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { placeholdersOf } from './placeholders.ts'

describe('placeholdersOf', () => {
  test.each([
    ['SELECT ?, ?', 'SELECT $1, $2', undefined],
    ['SELECT :a, :b, :a', 'SELECT $1, $2, $1', ['a', 'b']],
    ['SELECT :a_1 = :a', 'SELECT $1 = $2', ['a_1', 'a']],
    ["SELECT '?', ':a', 'it''s ?', ?", "SELECT '?', ':a', 'it''s ?', $1", undefined],
    ['SELECT "a?" FROM b WHERE c = ?', 'SELECT "a?" FROM b WHERE c = $1', undefined],
    ['SELECT a::int, ?::text', 'SELECT a::int, $1::text', undefined],
    ['SELECT 1 -- ? and :a\nWHERE a = :b', 'SELECT 1 -- ? and :a\nWHERE a = $1', ['b']],
    ['SELECT 1', 'SELECT 1', undefined],
  ])('%s', (statement, text, names) => {
    expect(placeholdersOf(statement)).toEqual({ text, names })
  })

  test('error: a statement with names and without is refused', () => {
    expect(() => placeholdersOf('SELECT ?, :a')).toThrow(TypeError)
  })

  test('numbers each by its place, whatever text stands between', () => {
    const text = fc.constantFrom<string>("'?'", '":a"', "''", '1::int', ' -- ?\n', ', ')
    fc.assert(
      fc.property(fc.array<string>(text, { minLength: 1, maxLength: 20 }), (texts) => {
        expect(placeholdersOf(texts.join('?')).text).toBe(
          texts.reduce((before, next, index) => `${before}$${index}${next}`),
        )
      }),
    )
  })
})
