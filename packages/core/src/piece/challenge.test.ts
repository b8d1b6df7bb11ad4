import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { base16 } from 'multiformats/bases/base16'
import { describe, expect, test } from 'vitest'
import { challengeIndex, findChallengedLeaf } from './challenge.ts'
import { leafCount } from './piece-size.ts'

interface ChallengeVector {
  readonly seed: string
  readonly dataSetId: number
  readonly challengeRange: number
  readonly pieces: readonly { readonly rawSize: number; readonly leafCount: number }[]
  readonly proofs: readonly {
    readonly i: number
    readonly challengeIdx: number
    readonly piece: number
    readonly leafIndex: number
  }[]
}

const VECTOR: ChallengeVector = JSON.parse(
  readFileSync(new URL('../../../../vectors/piece/pdp-challenge.json', import.meta.url), 'utf8'),
)
const SEED = base16.baseDecode(VECTOR.seed.slice(2))
const CHALLENGE = { seed: SEED, dataSetId: 7n, proofIndex: 0, challengeRange: 98n }

describe('challengeIndex', () => {
  test.each(VECTOR.proofs)('chooses leaf $leafIndex of piece $piece for proof $i, as in the vector', (proof) => {
    const leafCounts = VECTOR.pieces.map(({ rawSize }) => leafCount(rawSize))
    expect(leafCounts).toEqual(VECTOR.pieces.map((piece) => piece.leafCount))
    const index = challengeIndex({
      seed: SEED,
      dataSetId: BigInt(VECTOR.dataSetId),
      proofIndex: proof.i,
      challengeRange: BigInt(VECTOR.challengeRange),
    })
    expect(index).toBe(BigInt(proof.challengeIdx))
    expect(findChallengedLeaf(leafCounts, index)).toEqual({ pieceIndex: proof.piece, leafIndex: proof.leafIndex })
  })

  test('depends on every bit of the seed, the data set and the proof', () => {
    const wide = { ...CHALLENGE, challengeRange: 1n << 256n }
    const index = challengeIndex(wide)
    for (let bit = 0; bit < 256; bit += 1) {
      const seed = SEED.map((byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))
      expect(challengeIndex({ ...wide, seed })).not.toBe(index)
      expect(challengeIndex({ ...wide, dataSetId: 7n ^ (1n << BigInt(bit)) })).not.toBe(index)
    }
    for (let bit = 0; bit < 53; bit += 1) expect(challengeIndex({ ...wide, proofIndex: 2 ** bit })).not.toBe(index)
  })

  test('stays below the range', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 1n << 60n }), fc.nat(), (challengeRange, proofIndex) => {
        const index = challengeIndex({ ...CHALLENGE, proofIndex, challengeRange })
        expect(index).toBeLessThan(challengeRange)
        expect(index).toBeGreaterThanOrEqual(0n)
      }),
    )
  })

  test('refuses parts out of their range', () => {
    for (const wrong of [
      { seed: new Uint8Array(31) },
      { dataSetId: -1n },
      { dataSetId: 1n << 256n },
      { proofIndex: -1 },
      { proofIndex: 0.5 },
      { challengeRange: 0n },
    ]) {
      expect(() => challengeIndex({ ...CHALLENGE, ...wrong })).toThrow(TypeError)
    }
  })
})

describe('findChallengedLeaf', () => {
  test('counts leaves over all pieces, and passes over pieces without any', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 9 }), { maxLength: 8 }), (leafCounts) => {
        const leaves = leafCounts.flatMap((count, pieceIndex) =>
          Array.from({ length: count }, (_, leafIndex) => ({ pieceIndex, leafIndex })),
        )
        for (const [index, leaf] of leaves.entries()) {
          expect(findChallengedLeaf(leafCounts, BigInt(index))).toEqual(leaf)
        }
        expect(findChallengedLeaf(leafCounts, BigInt(leaves.length))).toBeUndefined()
      }),
    )
  })

  test('finds nothing below 0', () => {
    expect(findChallengedLeaf([5], -1n)).toBeUndefined()
  })
})
