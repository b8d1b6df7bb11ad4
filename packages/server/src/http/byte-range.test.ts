import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseRange } from './byte-range.ts'

const whole = { kind: 'whole' }
const unsatisfiable = { kind: 'unsatisfiable' }
const part = (offset: number, length: number) => ({ kind: 'part', range: { offset, length } })

describe('parseRange', () => {
  it.each([
    ['bytes=0-4', part(0, 5)],
    ['bytes=0-0', part(0, 1)],
    ['bytes=9-9', part(9, 1)],
    ['bytes=3-', part(3, 7)],
    ['bytes=0-', part(0, 10)],
    ['bytes=-3', part(7, 3)],
    ['bytes=-10', part(0, 10)],
    ['bytes=-99', part(0, 10)],
    ['bytes=5-99', part(5, 5)],
    ['bytes=0-9007199254740993', part(0, 10)],
    ['BYTES=0-4', part(0, 5)],
    [' bytes=0-4 ', part(0, 5)],
  ])('answers %s of ten bytes with the part', (header, expected) => {
    expect(parseRange(header, 10)).toEqual(expected)
  })

  it.each(['bytes=10-', 'bytes=10-20', 'bytes=-0', 'bytes=9999999999999999-'])('refuses %s of ten bytes', (header) => {
    expect(parseRange(header, 10)).toEqual(unsatisfiable)
  })

  it.each([
    undefined,
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=4-3',
    'bytes=a-b',
    'bytes=0x1-4',
    'bytes=+1-4',
    'bytes=1.0-4',
    'bytes= 1-4',
    'bytes=0-1,3-4',
    'bytes=0-1,',
    'bytes=0-0,0-0,0-0,0-0',
    'items=0-4',
    'bytes=٠-٤',
    `bytes=0-${'9'.repeat(5000)}`,
  ])('answers %j, which is no single range, with the whole file', (header) => {
    expect(parseRange(header, 10)).toEqual(whole)
  })

  it('selects the bytes that a slice selects', () => {
    const bytes = Buffer.from(Array.from({ length: 64 }, (_, index) => index))
    const bound = fc.nat({ max: 200 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 64 }), bound, bound, (sizeBytes, first, last) => {
        const file = bytes.subarray(0, sizeBytes)
        const answer = parseRange(`bytes=${first}-${last}`, sizeBytes)
        const expected = file.subarray(first, last + 1)
        if (last < first) expect(answer).toEqual(whole)
        else if (expected.length === 0) expect(answer).toEqual(unsatisfiable)
        else expect(answer).toEqual(part(first, expected.length))
      }),
    )
  })

  it('selects the bytes that a slice from the end selects', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 64 }), fc.nat({ max: 200 }), (sizeBytes, suffix) => {
        const length = Math.min(suffix, sizeBytes)
        const expected = length === 0 ? unsatisfiable : part(sizeBytes - length, length)
        expect(parseRange(`bytes=-${suffix}`, sizeBytes)).toEqual(expected)
      }),
    )
  })

  it('never answers more than the file holds, whatever the header', () => {
    const header = fc.oneof(fc.string(), fc.stringMatching(/^bytes=[0-9]{0,20}-[0-9]{0,20}$/))
    fc.assert(
      fc.property(header, fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (text, sizeBytes) => {
        const answer = parseRange(text, sizeBytes)
        if (answer.kind !== 'part') return
        expect(answer.range.offset).toBeGreaterThanOrEqual(0)
        expect(answer.range.length).toBeGreaterThan(0)
        expect(answer.range.offset + answer.range.length).toBeLessThanOrEqual(sizeBytes)
      }),
    )
  })
})
