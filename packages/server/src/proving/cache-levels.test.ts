import type { BodyWanted } from '@lade/node/hashing/content-hasher'
import { startHashThreads } from '@lade/node/hashing/hash-threads'
import { describe, expect, onTestFinished, test } from 'vitest'
import { cacheLevels } from './cache-levels.ts'
import { LevelCache } from './level-cache.ts'
import { proveBytes } from './prove-bytes.ts'
import { SECTION_BYTES } from './section-roots.ts'
import { testPiece } from './testing-pieces.ts'
import { challengedLeafOf, possessionFlaw } from './verify-possession.ts'

const MIB = 1024 * 1024
const SUBTREE_BYTES = 127 * MIB
const WANTED: BodyWanted = { blake3: false, blake2b256: false, profiles: [], carRoot: undefined, chunks: true }
/** Reading it again and again in turn makes files of any size. */
const BLOCK = testPiece(MIB).bytes
const TWICE = Buffer.concat([BLOCK, BLOCK])

/** At most 1 MiB. */
function readRepeated(offset: number, length: number): Uint8Array {
  return TWICE.subarray(offset % MIB, (offset % MIB) + length)
}

describe('cacheLevels', () => {
  test.each([SECTION_BYTES + 1, 5 * MIB, SUBTREE_BYTES, SUBTREE_BYTES + 300_000])(
    'has proofs about a file of %i bytes read nothing but the sections of their leaves, or up to 1 MiB once',
    async (sizeBytes) => {
      const threads = startHashThreads({ threads: 1 })
      onTestFinished(() => threads.close())
      const levels = new LevelCache()
      const hasher = cacheLevels(threads.hashers, levels)(WANTED, sizeBytes)
      for (let at = 0; at < sizeBytes; at += MIB) await hasher.update(BLOCK.slice(0, sizeBytes - at))
      const digests = await hasher.digests()
      expect(digests).not.toHaveProperty('pieceSectionRoots')
      const chunks = Math.ceil(sizeBytes / MIB)
      expect(digests.chunkDigests ?? []).toHaveLength(chunks > 1 ? 32 * chunks : 0)

      const piece = { root: Buffer.from(digests.pieceRoot, 'hex'), rawSizeBytes: sizeBytes }
      const reads: number[] = []
      const read = async (offset: number, length: number) => {
        reads.push(length)
        return readRepeated(offset, length)
      }
      const question = { piece, seed: new Uint8Array(32).fill(4), count: 5 }
      const bytes = { sizeBytes, read, subtreeRoots: digests.pieceSubtreeRoots }
      expect(possessionFlaw(question, await proveBytes(bytes, question, { levels }))).toBeUndefined()
      if (sizeBytes <= MIB) expect(reads).toEqual([sizeBytes])
      else {
        expect(reads).toHaveLength(5)
        expect(Math.max(...reads)).toBeLessThanOrEqual(SECTION_BYTES)
      }
    },
  )

  test('finds the level of a file also where the file became the end of a bigger one', async () => {
    const endBytes = 300_000
    const levels = new LevelCache()
    const threads = startHashThreads({ threads: 1 })
    onTestFinished(() => threads.close())
    const hash = async (sizeBytes: number, into: LevelCache) => {
      const hasher = cacheLevels(threads.hashers, into)(WANTED, sizeBytes)
      for (let at = 0; at < sizeBytes; at += MIB) await hasher.update(BLOCK.slice(0, sizeBytes - at))
      return hasher.digests()
    }
    await hash(SUBTREE_BYTES, levels)
    await hash(endBytes, levels)
    const whole = await hash(SUBTREE_BYTES + endBytes, new LevelCache())
    const piece = { root: Buffer.from(whole.pieceRoot, 'hex'), rawSizeBytes: SUBTREE_BYTES + endBytes }
    let readBytes = 0
    const read = async (offset: number, length: number) => {
      readBytes += length
      return readRepeated(offset, length)
    }
    const seed = new Uint8Array(32)
    const view = new DataView(seed.buffer)
    // One leaf in 450 is there.
    for (let tries = 0; challengedLeafOf({ piece, seed }, 0) < 2 ** 22; tries += 1) view.setUint32(0, tries)
    const bytes = { sizeBytes: piece.rawSizeBytes, read, subtreeRoots: whole.pieceSubtreeRoots }
    const question = { piece, seed, count: 1 }
    expect(possessionFlaw(question, await proveBytes(bytes, question, { levels }))).toBeUndefined()
    expect(readBytes).toBeLessThanOrEqual(SECTION_BYTES)
  })
})
