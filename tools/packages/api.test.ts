import { describe, expect, it } from 'vitest'
import { type Api, apiText, compareApis, objectionTo, parseApi } from './api.ts'

const api = (...lines: string[]): Api => ({ version: '0.1.0', lines })
const SAME = { added: [], removed: [] }
const ADDED = { added: ['export type A = 1;'], removed: [] }
const CHANGED = { added: ['export type A = 2;'], removed: ['export type A = 1;'] }

describe('the public API of a package', () => {
  it('is read as it was written', () => {
    const one = api('// index.d.ts', 'export type A = 1;')
    expect(parseApi(apiText(one))).toEqual(one)
  })

  it('differs by lines, each as often as it is there, wherever it is', () => {
    expect(compareApis(api('a', 'b', 'b'), api('b', 'a', 'b'))).toEqual(SAME)
    expect(compareApis(api('a', 'b', 'b'), api('c', 'b', 'a'))).toEqual({ added: ['c'], removed: ['b'] })
  })
})

describe('objectionTo', () => {
  it.each([
    ['nothing changed', SAME, '0.1.0', '0.1.0'],
    ['something was added', ADDED, '0.1.0', '0.1.1'],
    ['something changed before 1.0.0', CHANGED, '0.1.4', '0.2.0'],
    ['something changed after 1.0.0', CHANGED, '1.4.0', '2.0.0'],
  ])('has none where %s and the version says so', (_, change, before, after) => {
    expect(objectionTo(change, before, after)).toBe(undefined)
  })

  it.each([
    ['something was added', ADDED, '0.1.0', '0.1.0', /Raise the version/],
    ['something changed before 1.0.0', CHANGED, '0.1.0', '0.1.1', /Raise the minor version/],
    ['something changed after 1.0.0', CHANGED, '1.4.0', '1.5.0', /Raise the major version/],
  ])('asks for another version where %s', (_, change, before, after, message) => {
    expect(objectionTo(change, before, after)).toMatch(message)
  })
})
