import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { loadAddon } from '../addon/addon.ts'
import { type PartHashing, partHashing, partHashingWith } from './part-digests.ts'
import { sha256Hashing } from './sha256-hashing.ts'
import { scatteredBytes, shared } from './testing-bodies.ts'

const MIB = 1024 * 1024
const pool = scatteredBytes(MIB + 64, 11)
const digestsOf = (part: Uint8Array) => ({
  md5: createHash('md5').update(part).digest('hex'),
  sha256: createHash('sha256').update(part).digest('hex'),
})
const digestAll = (hashing: PartHashing, parts: readonly Uint8Array[]) =>
  Promise.all(parts.map((part) => hashing.digest(part)))

describe('digests of parts', () => {
  /** On both sides of 32 KiB, and of where a block and its padding end. */
  const edges = [0, 1, 32_768, 32_769, 33_000, 33_023, 33_024, 33_079, 33_080, 65_536, MIB - 1, MIB]

  test.each([
    ['as this process hashes', partHashing],
    ['by node:crypto', partHashingWith(undefined)],
  ])('%s are those of node:crypto, at every length', async (_, hashing) => {
    for (const length of edges) {
      const part = pool.subarray(3, 3 + length)
      expect(await hashing.digest(part), `${length} bytes`).toEqual(digestsOf(part))
      expect(await hashing.digest(part, 'known')).toEqual({ md5: digestsOf(part).md5, sha256: 'known' })
    }
  })

  test('are each part its own, however many and unequal parts are hashed together', async () => {
    const someParts = fc.array(fc.tuple(fc.integer({ min: 32_700, max: 200_000 }), fc.nat({ max: 63 })), {
      maxLength: 5,
    })
    await fc.assert(
      fc.asyncProperty(someParts, async (lengths) => {
        const parts = lengths.map(([length, from]) => pool.subarray(from, from + length))
        expect(await digestAll(partHashing, parts)).toEqual(parts.map(digestsOf))
      }),
      { numRuns: 50 },
    )
  })

  test('are those of shared memory, too', async () => {
    const part = shared(pool).subarray(5, 100_000)
    expect(await partHashing.digest(part)).toEqual(digestsOf(part))
  })
})

describe.runIf(sha256Hashing.isNative)(
  'with the addon',
  { meta: { skippedBecause: 'the sha2-256 addon is not built here' } },
  () => {
    const digestParts = loadAddon()?.digestParts ?? (() => expect.unreachable())

    test('two parts of one turn are hashed together, and those whose sha2-256 is known by themselves', async () => {
      const watched = vi.fn(digestParts)
      const hashing = partHashingWith(watched)
      const [one, two, three] = [pool.subarray(0, 40_000), pool.subarray(9, 50_009), pool.subarray(1, 60_001)]
      const known = hashing.digest(three, 'known')
      expect(await digestAll(hashing, [one, two])).toEqual([one, two].map(digestsOf))
      expect(await known).toEqual({ md5: digestsOf(three).md5, sha256: 'known' })
      expect(watched.mock.calls.map(([parts, , withSha256]) => [parts, withSha256])).toEqual([
        [[three], false],
        [[one, two], true],
      ])
    })

    test('error: parts that no thread takes are told, and later ones are hashed', async () => {
      const watched = vi.fn(digestParts).mockImplementationOnce(() => {
        throw new Error('No thread takes these parts')
      })
      const hashing = partHashingWith(watched)
      await expect(hashing.digest(pool)).rejects.toThrow('No thread takes these parts')
      expect(await hashing.digest(pool)).toEqual(digestsOf(pool))
    })

    test.each([
      ['no part', [], 48],
      ['three parts', [pool, pool, pool], 144],
      ['too little room for digests', [pool, pool], 48],
      ['a part that is none', [new Uint32Array(8) as never], 48],
    ])('refuses %s', (_, parts, room) => {
      expect(() => digestParts(parts, new Uint8Array(room), true, () => {})).toThrow(TypeError)
    })
  },
)
