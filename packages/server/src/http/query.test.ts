import { LadeError } from '@lade/core/errors'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pathOf, queryOf } from './query.ts'

describe('pathOf', () => {
  it.each([
    ['/p/x', '/p/x'],
    ['/p/x?', '/p/x'],
    ['/p/x?a=b?c', '/p/x'],
    ['/%70/x%3Fa', '/%70/x%3Fa'],
    ['?a', ''],
  ])('is the part of %s before the question mark, as sent', (url, path) => expect(pathOf(url)).toBe(path))
})

describe('queryOf', () => {
  it.each([
    ['/x', []],
    ['/x?', []],
    [
      '/x?a=1&b=',
      [
        ['a', '1'],
        ['b', ''],
      ],
    ],
    ['/x?a', [['a', '']]],
    ['/x?a=%20%2B+', [['a', ' + ']]],
    ['/x?a=b=c', [['a', 'b=c']]],
    ['/x?a=1?b=2', [['a', '1?b=2']]],
    ['/x?__proto__=1', [['__proto__', '1']]],
    ['/x?a=%ff', [['a', '\ufffd']]],
  ])('reads %s', (url, entries) => expect([...queryOf(url)]).toEqual(entries))

  it.each(['/x?a=1&a=1', '/x?a=1&b=2&a=3', '/x?a&a', '/x?a=1&%61=2', '/x?=1&=2'])(
    'refuses %s, where a parameter stands twice',
    (url) => expect(() => queryOf(url)).toThrow(expect.objectContaining({ code: 'bad_request' })),
  )

  it('takes the first of a parameter that may be repeated, and still refuses every other', () => {
    expect([...queryOf('/x?a=1&a=2&b=3&a=4', ['a'])]).toEqual([
      ['a', '1'],
      ['b', '3'],
    ])
    expect(() => queryOf('/x?a=1&a=2&b=3&b=4', ['a'])).toThrow(expect.objectContaining({ code: 'bad_request' }))
  })

  it('names a repeated parameter in printable ASCII, cut to 40 characters', () => {
    const name = encodeURIComponent(`\r\n\u202e${'x'.repeat(5000)}`)
    const reason = refusalOf(`/x?${name}&${name}`)
    expect(reason).toMatch(/^[\x20-\x7e]*$/)
    expect(reason.length).toBeLessThan(120)
  })

  it('gives back what was encoded', () => {
    const name = fc.string({ unit: 'binary' }).map((text) => text.toWellFormed())
    fc.assert(
      fc.property(fc.dictionary(name, name), (parameters) => {
        const url = `/x?${new URLSearchParams(Object.entries(parameters))}`
        expect(new Map(queryOf(url))).toEqual(new Map(Object.entries(parameters)))
      }),
    )
  })
})

function refusalOf(url: string): string {
  try {
    queryOf(url)
  } catch (error) {
    if (LadeError.has(error, 'bad_request')) return error.evidence.reason
    throw error
  }
  throw new Error('the query was accepted')
}
