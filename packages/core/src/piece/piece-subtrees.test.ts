import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hashPiece } from './piece-hasher.ts'
import { rawCapacityBytes } from './piece-size.ts'
import { foldSubtreeRoots, joinPieces } from './piece-subtrees.ts'
import { scatteredBytes } from './testing-pieces.ts'
import { zeroCommitment } from './zero-commitments.ts'

describe('foldSubtreeRoots', () => {
  test('leads to the root of the whole', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 128, max: 6000 }),
        fc.integer(),
        fc.integer({ min: 2, max: 6 }),
        (size, seed, height) => {
          const { root, subtreeRoots } = hashPiece(scatteredBytes(size, seed), { subtreeHeight: height })
          if (subtreeRoots.length === 0) return
          expect(foldSubtreeRoots(subtreeRoots, size, { subtreeHeight: height })).toEqual(root)
        },
      ),
    )
  })

  test('needs no byte of 32 GiB of padded zeros', () => {
    const subtree = zeroCommitment(22)
    const roots = new Uint8Array(32 * 256).map((_, index) => subtree[index % 32] ?? 0)
    expect(foldSubtreeRoots(roots, 256 * 127 * 2 ** 20)).toEqual(zeroCommitment(30))
    expect(foldSubtreeRoots(roots, 255 * 127 * 2 ** 20 + 1)).toEqual(zeroCommitment(30))
  })

  test('takes a single subtree that is the whole piece', () => {
    expect(foldSubtreeRoots(zeroCommitment(22), 127 * 2 ** 20)).toEqual(zeroCommitment(22))
  })

  test('refuses another number of roots than the size has, and pieces lower than a subtree', () => {
    const size = 255 * 127 * 2 ** 20 + 1
    for (const count of [0, 255, 257])
      expect(() => foldSubtreeRoots(new Uint8Array(32 * count), size)).toThrow(TypeError)
    expect(() => foldSubtreeRoots(new Uint8Array(32), 1000)).toThrow(TypeError)
  })
})

describe('joinPieces', () => {
  test('gives what hashing the parts behind each other gives', () => {
    const someParts = fc.record({
      subtreeHeight: fc.integer({ min: 2, max: 5 }),
      subtreesOfParts: fc.array(fc.nat({ max: 4 }), { maxLength: 4 }),
      lastSize: fc.nat({ max: 3000 }),
      seed: fc.integer(),
    })
    fc.assert(
      fc.property(someParts, ({ subtreeHeight, subtreesOfParts, lastSize, seed }) => {
        const sizes = [...subtreesOfParts.map((count) => count * rawCapacityBytes(subtreeHeight)), lastSize]
        const whole = scatteredBytes(
          sizes.reduce((sum, size) => sum + size, 0),
          seed,
        )
        let at = 0
        const parts = sizes.map((size) => {
          at += size
          return hashPiece(whole.subarray(at - size, at), { subtreeHeight })
        })
        expect(joinPieces(parts, { subtreeHeight })).toEqual(hashPiece(whole, { subtreeHeight }))
      }),
      { numRuns: 300 },
    )
  })

  test('gives the empty piece for no parts', () => {
    expect(joinPieces([])).toEqual(hashPiece(new Uint8Array(0)))
  })

  test('gives the digest of a big piece from parts of 127 MiB', () => {
    const part = { root: zeroCommitment(22), rawSizeBytes: 127 * 2 ** 20, subtreeRoots: new Uint8Array(0) }
    const whole = joinPieces([part, part, part, hashPiece(new Uint8Array(500))])
    expect(whole.root).toEqual(zeroCommitment(24))
    expect(whole.rawSizeBytes).toBe(3 * 127 * 2 ** 20 + 500)
    expect(whole.subtreeRoots.length).toBe(4 * 32)
  })

  test('refuses a part whose bytes do not end with a subtree, unless it is the last', () => {
    const part = hashPiece(scatteredBytes(1016, 1), { subtreeHeight: 4 })
    const odd = hashPiece(scatteredBytes(1017, 1), { subtreeHeight: 4 })
    expect(joinPieces([part, odd], { subtreeHeight: 4 }).rawSizeBytes).toBe(2033)
    expect(() => joinPieces([odd, part], { subtreeHeight: 4 })).toThrow(TypeError)
  })

  test('refuses a part that lacks subtree roots', () => {
    const part = hashPiece(scatteredBytes(1016, 1), { subtreeHeight: 5 })
    expect(() => joinPieces([part, part], { subtreeHeight: 4 })).toThrow(TypeError)
  })

  test("refuses parts with each other's subtree roots", () => {
    const two = hashPiece(scatteredBytes(1016, 1), { subtreeHeight: 4 })
    const three = hashPiece(scatteredBytes(1524, 1), { subtreeHeight: 4 })
    const mixed = [
      { ...two, subtreeRoots: three.subtreeRoots },
      { ...three, subtreeRoots: two.subtreeRoots },
    ]
    expect(() => joinPieces(mixed, { subtreeHeight: 4 })).toThrow(TypeError)
  })
})
