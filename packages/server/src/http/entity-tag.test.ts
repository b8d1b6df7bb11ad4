import { describe, expect, it } from 'vitest'
import { noneMatchNames, rangeMayApply } from './entity-tag.ts'

const ETAG = '"bafkreiabc"'

describe('noneMatchNames', () => {
  it.each([
    '"bafkreiabc"',
    'W/"bafkreiabc"',
    '*',
    ' * ',
    '"x", "bafkreiabc"',
    '"x",W/"bafkreiabc" , "y"',
    ' "bafkreiabc"',
  ])('finds the tag in %j', (header) => expect(noneMatchNames(header, ETAG)).toBe(true))

  it.each([undefined, '', '"x"', 'bafkreiabc', '"bafkreiabcd"', '"BAFKREIABC"', 'w/"bafkreiabc"', '"x", *', '**'])(
    'does not find the tag in %j',
    (header) => expect(noneMatchNames(header, ETAG)).toBe(false),
  )
})

describe('a weak tag', () => {
  it('is found in If-None-Match with and without its mark, and never lets a range apply', () => {
    for (const header of ['W/"x"', '"x"', '"y", W/"x"']) expect(noneMatchNames(header, 'W/"x"')).toBe(true)
    expect(noneMatchNames('W/"y"', 'W/"x"')).toBe(false)
    for (const header of ['W/"x"', '"x"']) expect(rangeMayApply(header, 'W/"x"')).toBe(false)
    expect(rangeMayApply(undefined, 'W/"x"')).toBe(true)
  })
})

describe('rangeMayApply', () => {
  it.each([undefined, '"bafkreiabc"', ' "bafkreiabc" '])('lets a range apply for If-Range %j', (header) =>
    expect(rangeMayApply(header, ETAG)).toBe(true),
  )

  it.each(['W/"bafkreiabc"', '"x"', '*', 'bafkreiabc', '', 'Sat, 21 Nov 2026 12:00:00 GMT', '"x", "bafkreiabc"'])(
    'answers the whole file for If-Range %j, which is not this tag strongly',
    (header) => expect(rangeMayApply(header, ETAG)).toBe(false),
  )
})
