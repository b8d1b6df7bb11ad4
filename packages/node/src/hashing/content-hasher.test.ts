import type { DigestsWanted } from '@lade/core/content'
import { carHeader, carSection, profilesThatCanMatch } from '@lade/core/dag'
import fc from 'fast-check'
import { CID } from 'multiformats/cid'
import { create as createMultihash } from 'multiformats/hashes/digest'
import { afterAll, describe, expect, test } from 'vitest'
import { type BodyWanted, type ContentHashers, digestWhole, hashContentHere, hashersHere } from './content-hasher.ts'
import { startHashThreads } from './hash-threads.ts'
import { sha256 } from './sha256.ts'
import { sha256HashingWith } from './sha256-hashing.ts'
import { chunksOf, EVERYTHING, expectedDigests, PLAIN, scatteredBytes } from './testing-bodies.ts'

const someWanted: fc.Arbitrary<DigestsWanted> = fc.record({
  blake3: fc.boolean(),
  blake2b256: fc.boolean(),
  profiles: fc.subarray([...EVERYTHING.profiles]),
  carRoot: fc.constant(undefined),
})
/** Sizes at and around quads, chunks of the import profiles, and nothing. */
const someSize = fc
  .tuple(fc.constantFrom(0, 127, 5000, 262_144, 1_048_576), fc.integer({ min: -2, max: 2 }))
  .map(([size, more]) => Math.max(0, size + more))
const someLengths = fc
  .array(fc.oneof(fc.nat({ max: 3000 }), fc.nat({ max: 600_000 })), { maxLength: 5 })
  .map((lengths) => [...lengths, 50_001])

const bytes = scatteredBytes(300_000, 1)

async function hashChunks(
  hashers: ContentHashers,
  wanted: BodyWanted,
  chunks: Iterable<Uint8Array>,
  size: number | undefined,
) {
  const hasher = hashers(wanted, size)
  for (const chunk of chunks) await hasher.update(chunk)
  return hasher.digests()
}

describe('digestWhole', () => {
  test('computes the two digests that every body has, and no other', () => {
    const digests = digestWhole(Buffer.from('hello world'), PLAIN)
    expect(digests).toEqual({
      sizeBytes: 11,
      sha256: 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9',
      // That of bafkzcibcoqbo4xahwtvbmhunywt2yhzjebhylq4yei73dmrzu7bky4lnev6ukgq.
      pieceRoot: 'ee5c07b4ea161e8dc5a7ac1f29204f85c398223fb1b239a7c2ac716d257d451a',
      pieceSubtreeRoots: new Uint8Array(),
      blake3: undefined,
      blake2b256: undefined,
      dags: [],
      car: undefined,
    })
  })

  test('computes whatever is wanted, as other implementations do', () => {
    fc.assert(
      fc.property(someWanted, someSize, fc.integer(), (wanted, size, seed) => {
        const body = scatteredBytes(size, seed)
        expect(digestWhole(body, wanted)).toEqual(expectedDigests(body, wanted))
      }),
      { numRuns: 40 },
    )
  })
})

const threads = startHashThreads({ threads: 2, minBytes: 0 })
const threadsWithoutAddon = startHashThreads({ threads: 2, minBytes: 0, withoutAddon: true })
afterAll(() => Promise.all([threads.close(), threadsWithoutAddon.close()]))

describe.each([
  ['on the calling thread', hashContentHere],
  ['on the calling thread, without the addon', hashersHere(sha256HashingWith(undefined))],
  ['on two threads', threads.hashers],
  ['on two threads, without the addon', threadsWithoutAddon.hashers],
])('a hasher %s', (_, hashers) => {
  test('computes whatever is wanted, however the bytes are cut', async () => {
    await fc.assert(
      fc.asyncProperty(someWanted, someSize, someLengths, fc.integer(), async (wanted, size, lengths, seed) => {
        const body = scatteredBytes(size, seed)
        const digests = await hashChunks(hashers, wanted, chunksOf(body, lengths), size)
        expect(digests).toEqual(expectedDigests(body, wanted))
      }),
      { numRuns: 40 },
    )
  })

  test('computes the same of a body whose length only its end tells, but no DAG twice', async () => {
    await fc.assert(
      fc.asyncProperty(someWanted, someSize, someLengths, fc.integer(), async (wanted, size, lengths, seed) => {
        const body = scatteredBytes(size, seed)
        const digests = await hashChunks(hashers, { ...wanted, chunks: true }, chunksOf(body, lengths), undefined)
        const profiles = profilesThatCanMatch({ sizeBytes: size }).filter((name) => wanted.profiles.includes(name))
        const { chunkDigests } = await hashChunks(hashers, { ...PLAIN, chunks: true }, [body], size)
        expect(digests).toEqual({ ...expectedDigests(body, { ...wanted, profiles }), chunkDigests })
      }),
      { numRuns: 40 },
    )
  })

  test('takes blocks in the order of the calls, without waiting in between', async () => {
    const hasher = hashers(EVERYTHING, bytes.length)
    const updates = Array.from(chunksOf(bytes, [10_000]), (chunk) => hasher.update(chunk))
    const digests = await hasher.digests()
    await Promise.all(updates)
    expect(digests).toEqual(expectedDigests(bytes, EVERYTHING))
  })

  test('refuses to give digests of more or fewer bytes than were announced', async () => {
    for (const wanted of [PLAIN, EVERYTHING]) {
      const size = bytes.length
      await expect(hashChunks(hashers, wanted, [bytes], size - 1)).rejects.toThrow(TypeError)
      await expect(hashChunks(hashers, wanted, [bytes], size + 1)).rejects.toThrow(TypeError)
      await expect(hashChunks(hashers, wanted, [], size)).rejects.toThrow(TypeError)
    }
    expect(await hashChunks(hashers, PLAIN, [bytes], bytes.length)).toEqual(expectedDigests(bytes, PLAIN))
  })

  test('refuses to go on after its digests', async () => {
    const hasher = hashers(PLAIN, 0)
    await hasher.digests()
    await expect(hasher.update(Buffer.of(1))).rejects.toThrow()
    await expect(hasher.digests()).rejects.toThrow()
    hasher.discard()
  })

  test('forgets a discarded body and goes on with the others', async () => {
    const forgotten = hashers(EVERYTHING, bytes.length)
    const update = forgotten.update(bytes)
    forgotten.discard()
    forgotten.discard()
    await update
    expect(await hashChunks(hashers, EVERYTHING, [bytes], bytes.length)).toEqual(expectedDigests(bytes, EVERYTHING))
  })

  describe('of a CAR', () => {
    const block = scatteredBytes(5000, 2)
    const cid = CID.createV1(0x55, createMultihash(0x12, sha256.of(block)))
    const car = Buffer.concat([carHeader([cid]), carSection(cid, block.length), block])
    const carRoot = { version: 1, codec: 0x55n, hash: 0x12n, digest: cid.multihash.digest } as const

    test('finds where its blocks lie', async () => {
      const digests = await hashChunks(hashers, { ...PLAIN, carRoot }, chunksOf(car, [999]), car.length)
      expect(digests).toEqual({
        ...expectedDigests(car, PLAIN),
        car: {
          root: 'unixfs-file',
          fileSizeBytes: block.length,
          blockCount: 1,
          multihashes: new Uint8Array(cid.multihash.bytes),
          multihashEnds: Uint32Array.of(cid.multihash.bytes.length),
          offsetBytes: Float64Array.of(car.length - block.length),
          sizeBytes: Uint32Array.of(block.length),
        },
      })
      expect(digestWhole(car, { ...PLAIN, carRoot })).toEqual(digests)
      expect(await hashChunks(hashers, { ...PLAIN, carRoot }, chunksOf(car, [999]), undefined)).toEqual(digests)
    })

    test('says what is wrong with bytes that are none', async () => {
      const digests = await hashChunks(hashers, { ...PLAIN, carRoot }, [block], block.length)
      expect(digests).toMatchObject({ ...expectedDigests(block, PLAIN), car: { fault: 'malformed' } })
      expect(digestWhole(block, { ...PLAIN, carRoot })).toEqual(digests)
    })
  })
})
