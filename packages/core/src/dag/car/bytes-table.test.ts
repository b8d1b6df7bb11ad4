import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BytesTable } from './bytes-table.ts'
import { hex } from './testing-cars.ts'

describe('BytesTable', () => {
  test('numbers strings in order of first appearance, and finds them again', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 5 }), { maxLength: 200 }), (strings) => {
        const table = new BytesTable()
        const expected = [...new Set(strings.map(hex))]
        expect(strings.map((bytes) => table.numberOf(bytes))).toEqual(
          strings.map((bytes) => expected.indexOf(hex(bytes))),
        )
        expect(table.size).toBe(expected.length)
        expect(expected.map((_, number) => hex(table.bytesOf(number)))).toEqual(expected)
        expect(table.sizeBytes).toBe(expected.join('').length / 2)
        for (const bytes of strings) expect(table.find(bytes)).toBe(expected.indexOf(hex(bytes)))
      }),
    )
  })

  test('tells strings apart that differ in trailing zeros', () => {
    const table = new BytesTable()
    const strings = [[], [0], [0, 0], [0, 0, 0]].map((bytes) => Uint8Array.from(bytes))
    expect(strings.map((bytes) => table.numberOf(bytes))).toEqual([0, 1, 2, 3])
    expect(table.find(new Uint8Array(4))).toBeUndefined()
  })

  test('keeps a copy of what it is given', () => {
    const table = new BytesTable()
    const bytes = Uint8Array.of(1, 2)
    table.numberOf(bytes)
    bytes.fill(9)
    expect(table.find(Uint8Array.of(1, 2))).toBe(0)
  })

  test('holds a hundred thousand strings that a sender has made alike', () => {
    const table = new BytesTable()
    const bytes = new Uint8Array(36).fill(7)
    const view = new DataView(bytes.buffer)
    for (let number = 0; number < 100_000; number += 1) {
      view.setUint32(0, number)
      expect(table.numberOf(bytes)).toBe(number)
    }
    view.setUint32(0, 77_777)
    expect(table.find(bytes)).toBe(77_777)
  })
})
