import { hashPiece, hashPieceLevel } from '@lade/core/piece'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pieceOf } from '../testing/harness.ts'
import { LevelHasher, SECTION_BYTES } from './level-hasher.ts'

describe('LevelHasher', () => {
  test('finds the commitment and the level that core finds, however the bytes are cut', async () => {
    const edges = [0, 1, 126, 127, 128, SECTION_BYTES - 1, SECTION_BYTES, SECTION_BYTES + 1, 2 * SECTION_BYTES, 300_000]
    const cuts = fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.constantFrom(...edges), fc.nat({ max: 400_000 })), cuts, async (size, lengths) => {
        const { bytes } = pieceOf(size, size)
        const hasher = new LevelHasher()
        for (let at = 0, turn = 0; at < size; turn += 1) {
          const length = lengths[turn % lengths.length] ?? 1
          hasher.update(bytes.subarray(at, at + length))
          at += length
        }
        const { root, rawSizeBytes, level } = hasher.finish()
        expect({ root, rawSizeBytes }).toEqual({ root: hashPiece(bytes).root, rawSizeBytes: size })
        const readRaw = (offset: number, length: number) => bytes.subarray(offset, offset + length)
        const expected = size > SECTION_BYTES ? await hashPieceLevel({ rawSizeBytes, readRaw }) : undefined
        expect(level).toEqual(expected)
      }),
      { numRuns: 60 },
    )
  })
})
