import { create } from 'content-disposition'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { filenameIn } from './content-disposition.ts'

describe('filenameIn', () => {
  it.each<[string | null, string | undefined]>([
    [null, undefined],
    ['inline', undefined],
    ['attachment; filename=plan.pdf', 'plan.pdf'],
    ['inline; filename="a \\"b\\" c.txt"', 'a "b" c.txt'],
    [`inline; filename="na?ve.txt"; filename*=UTF-8''na%C3%AFve.txt`, 'naïve.txt'],
    [`inline; filename*=utf-8'en'%e2%82%ac.txt; filename="euro.txt"`, '€.txt'],
    [`inline; filename="plain.txt"; filename*=UTF-8''%zz`, 'plain.txt'],
  ])('reads %j as %j', (header, name) => {
    expect(filenameIn(header)).toBe(name)
  })

  it('reads back what the service writes', () => {
    const someName = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
      .filter((name) => !/[\p{Cc}/\\]/u.test(name))
    fc.assert(
      fc.property(someName, (name) => {
        expect(filenameIn(create(name, { type: 'inline' }))).toBe(name)
      }),
    )
  })
})
