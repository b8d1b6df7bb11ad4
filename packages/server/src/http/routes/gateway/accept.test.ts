import { describe, expect, it } from 'vitest'
import { acceptedTypes } from './accept.ts'

const typesOf = (header: string | undefined) => acceptedTypes(header).map(({ mediaType }) => mediaType)

describe('acceptedTypes', () => {
  it.each([
    [undefined, []],
    ['', []],
    [' , ,', []],
    ['a/b', ['a/b']],
    ['A/B', ['a/b']],
    ['a/b, c/d', ['a/b', 'c/d']],
    ['a/b;q=0.5, c/d', ['c/d', 'a/b']],
    ['a/b; q=0.1, c/d ;q=0.9, e/f; Q=0.5', ['c/d', 'e/f', 'a/b']],
    ['a/b;q=0, c/d;q=0.000', []],
    ['a/b;q=1.000,c/d;q=0.999', ['a/b', 'c/d']],
    ['a/b;q=nonsense, c/d;q=0.5', ['a/b', 'c/d']],
    ['a/b;q=2, c/d;q=-1', ['a/b', 'c/d']],
    ['*/*;q=0.1, a/b;q=0.2', ['a/b', '*/*']],
  ])('reads %j as %j', (header, expected) => expect(typesOf(header)).toEqual(expected))

  it('reads parameters, quoted or not, by names in any case', () => {
    const [type] = acceptedTypes('application/vnd.ipld.car; Version=1;order="dfs" ; dups = y; q=0.3; flag')
    expect([...(type?.parameters ?? [])]).toEqual([
      ['version', '1'],
      ['order', 'dfs'],
      ['dups', 'y'],
    ])
  })

  it('takes time in proportion to the header, whatever is in it', () => {
    const startedAt = performance.now()
    for (const unit of ['"', ';', ',', '"\\', '; a="', 'a/b;q=0.5,', ' ']) {
      acceptedTypes(unit.repeat(Math.ceil(16_384 / unit.length)))
    }
    expect(performance.now() - startedAt).toBeLessThan(1000)
  })
})
