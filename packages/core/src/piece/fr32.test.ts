import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { padFr32, unpadFr32 } from './fr32.ts'
import { scatteredBytes } from './testing-pieces.ts'

/** The definition, bit by bit: bit i of the raw bytes is bit i + 2 * floor(i / 254) of the padded ones. */
function padBitByBit(raw: Uint8Array): Uint8Array {
  const padded = new Uint8Array((raw.length / 127) * 128)
  for (let bit = 0; bit < 8 * raw.length; bit += 1) {
    const to = bit + 2 * Math.floor(bit / 254)
    const value = ((raw[bit >> 3] ?? 0) >> (bit & 7)) & 1
    padded[to >> 3] = (padded[to >> 3] ?? 0) | (value << (to & 7))
  }
  return padded
}

/** The same bytes at any place of a bigger buffer. */
function shifted(bytes: Uint8Array, offset: number): Uint8Array {
  const buffer = new Uint8Array(offset + bytes.length + 8).fill(0xaa)
  buffer.set(bytes, offset)
  return buffer.subarray(offset, offset + bytes.length)
}

const someQuads = fc.tuple(fc.nat({ max: 13 }), fc.integer()).map(([quads, seed]) => scatteredBytes(127 * quads, seed))
const someOffset = fc.nat({ max: 7 })

describe('padFr32', () => {
  test('puts two zero bits behind every 254, wherever in memory the bytes are', () => {
    fc.assert(
      fc.property(someQuads, someOffset, someOffset, (raw, fromOffset, toOffset) => {
        const expected = padBitByBit(raw)
        expect(padFr32(raw)).toEqual(expected)
        const target = shifted(new Uint8Array(expected.length), toOffset)
        expect(padFr32(shifted(raw, fromOffset), target)).toBe(target)
        expect(target).toEqual(expected)
      }),
    )
  })

  test('writes no byte outside its target', () => {
    for (const quads of [1, 3, 4, 5]) {
      const around = new Uint8Array(128 * quads + 16).fill(0xaa)
      padFr32(new Uint8Array(127 * quads), around.subarray(8, -8))
      expect(around.subarray(0, 8)).toEqual(new Uint8Array(8).fill(0xaa))
      expect(around.subarray(-8)).toEqual(new Uint8Array(8).fill(0xaa))
    }
  })

  test('refuses lengths that are no quads', () => {
    expect(() => padFr32(new Uint8Array(126))).toThrow(TypeError)
    expect(() => padFr32(new Uint8Array(127), new Uint8Array(127))).toThrow(TypeError)
  })
})

describe('unpadFr32', () => {
  test('gives back what was padded, wherever in memory the bytes are', () => {
    fc.assert(
      fc.property(someQuads, someOffset, someOffset, (raw, fromOffset, toOffset) => {
        const padded = padBitByBit(raw)
        expect(unpadFr32(padded)).toEqual(raw)
        expect(unpadFr32(shifted(padded, fromOffset), shifted(new Uint8Array(raw.length), toOffset))).toEqual(raw)
      }),
    )
  })

  test('drops the top two bits of every 32 bytes', () => {
    const padded = padFr32(scatteredBytes(508, 1))
    const raw = unpadFr32(padded)
    expect(unpadFr32(padded.map((byte, index) => (index % 32 === 31 ? byte | 0xc0 : byte)))).toEqual(raw)
  })

  test('refuses lengths that are no quads', () => {
    expect(() => unpadFr32(new Uint8Array(127))).toThrow(TypeError)
    expect(() => unpadFr32(new Uint8Array(128), new Uint8Array(128))).toThrow(TypeError)
  })
})
