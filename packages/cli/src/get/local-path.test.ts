import { describe, expect, it } from 'vitest'
import { entryName, staysWithin, type Tree } from './local-path.ts'

describe('entryName', () => {
  it.each([
    ['.env', '.env'],
    ['a:b*?', 'a:b*?'],
    ['日本 語', '日本 語'],
    ['..', 'bafk'],
    ['.', 'bafk'],
    ['', 'bafk'],
    ['../../etc/passwd', '___.._etc_passwd'],
    ['a\0b', 'a_b'],
  ])('writes %j as %j', (name, expected) => expect(entryName(name, 'bafk', 'linux')).toBe(expected))

  it('takes what Windows takes there', () => expect(entryName('con.txt', 'bafk', 'win32')).toBe('_con.txt'))
})

describe('staysWithin', () => {
  const tree: Tree = new Map<string, string | true>([
    ['p/q/up', '..'],
    ['loop', 'loop'],
    ['out', '/etc'],
    ['deep', 'p/q'],
  ])
  it.each([
    ['a', 'b', true],
    ['a/b', '../c', true],
    ['a', 'not/there', true],
    ['a', 'deep/../x', true],
    ['a', '../b', false],
    ['a/b', '../../c', false],
    ['a', '/etc/passwd', false],
    ['a', 'C:\\Windows', false],
    // By names alone it would stay: `p/q/up` leads to `p`, and two steps up from there is outside.
    ['a', 'p/q/up/../..', false],
    ['a', 'loop', false],
    ['a', 'out/passwd', false],
  ])('of %s to %s: %s', (path, target, expected) => expect(staysWithin(path, target, tree)).toBe(expected))
})
