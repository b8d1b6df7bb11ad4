import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mergeByDigest } from './merge-by-digest.ts'

describe('mergeByDigest', () => {
  it('shows every digest of either list once, in order, with the size that each side has', () => {
    const side = fc.dictionary(fc.stringMatching(/^[0-9a-f]{1,3}$/), fc.nat({ max: 9 }), { noNullPrototype: true })
    fc.assert(
      fc.property(side, side, (stored, recorded) => {
        const listOf = (sizes: Record<string, number>) =>
          Object.keys(sizes)
            .sort()
            .map((sha256) => ({ sha256, sizeBytes: sizes[sha256] ?? 0 }))
        const expected = [...new Set([...Object.keys(stored), ...Object.keys(recorded)])]
          .sort()
          .map((sha256) => ({ sha256, storedBytes: stored[sha256], recordedBytes: recorded[sha256] }))
        expect([...mergeByDigest(listOf(stored), listOf(recorded))]).toEqual(expected)
      }),
    )
  })
})
