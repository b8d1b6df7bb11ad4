import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { leafCount, paddedSizeBytes, paddingBytes, pieceHeight } from './piece-size.ts'

const someSize = fc.oneof(fc.nat({ max: 5000 }), fc.maxSafeNat())
/** Where trees grow by a height, up to the largest size that is counted exactly. */
const BOUNDARIES = Array.from({ length: 47 }, (_, doublings) => 127 * 2 ** doublings)

describe('pieceHeight', () => {
  test('grows by one just above each 127 * 2^k bytes', () => {
    expect(pieceHeight(0)).toBe(2)
    for (const [doublings, size] of BOUNDARIES.entries()) {
      expect([pieceHeight(size - 1), pieceHeight(size), pieceHeight(size + 1)]).toEqual([
        size === 127 ? 2 : doublings + 2,
        doublings + 2,
        doublings + 3,
      ])
    }
    expect(pieceHeight(Number.MAX_SAFE_INTEGER)).toBe(49)
  })

  test('refuses what is no size', () => {
    for (const size of [-1, 0.5, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY]) {
      for (const ask of [pieceHeight, leafCount, paddedSizeBytes, paddingBytes])
        expect(() => ask(size)).toThrow(TypeError)
    }
  })
})

describe('paddingBytes and paddedSizeBytes', () => {
  test('fill the raw bytes up to 127/128 of the padded size, exactly', () => {
    fc.assert(
      fc.property(someSize, (size) => {
        expect(BigInt(paddedSizeBytes(size))).toBe(32n << BigInt(pieceHeight(size)))
        expect(BigInt(size) + BigInt(paddingBytes(size))).toBe((BigInt(paddedSizeBytes(size)) / 128n) * 127n)
      }),
    )
  })

  test('pad with less than there are bytes, from 127 bytes on', () => {
    fc.assert(
      fc.property(someSize, (size) => {
        if (size >= 127) expect(paddingBytes(size)).toBeLessThan(size)
      }),
    )
  })
})

describe('leafCount', () => {
  test('is what the contract computes from height and padding', () => {
    const contractLeafCount = (size: number) =>
      (1n << BigInt(pieceHeight(size))) - (128n * BigInt(paddingBytes(size))) / 127n / 32n
    for (const size of BOUNDARIES.flatMap((boundary) => [boundary - 1, boundary, boundary + 1])) {
      expect(BigInt(leafCount(size))).toBe(contractLeafCount(size))
    }
    fc.assert(
      fc.property(someSize, (size) => {
        expect(BigInt(leafCount(size))).toBe(contractLeafCount(size))
      }),
      { numRuns: 2000 },
    )
  })
})
