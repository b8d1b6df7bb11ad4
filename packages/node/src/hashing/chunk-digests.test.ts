import { describe, expect, it } from 'vitest'
import { CHUNK_BYTES, ChunkHasher } from './chunk-digests.ts'
import { hashContentHere, hashersHere } from './content-hasher.ts'
import { startHashThreads } from './hash-threads.ts'
import { sha256 } from './sha256.ts'
import { sha256HashingWith } from './sha256-hashing.ts'
import { chunksOf, PLAIN, scatteredBytes, shared } from './testing-bodies.ts'

const WANTED = { ...PLAIN, chunks: true }

function expected(bytes: Uint8Array): Uint8Array {
  const digests: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) digests.push(sha256.of(bytes.subarray(at, at + CHUNK_BYTES)))
  return Uint8Array.from(Buffer.concat(digests))
}

describe('chunk digests', () => {
  it.each([1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES, 5_000_000])(
    'are the sha2-256 of each MiB of %i bytes, however they arrive',
    (sizeBytes) => {
      const bytes = scatteredBytes(sizeBytes, 7)
      for (const lengths of [[sizeBytes], [65_536], [1_000_003, 17]]) {
        const hasher = new ChunkHasher({ sizeBytes, sha256 })
        for (const chunk of chunksOf(bytes, lengths)) hasher.update(chunk)
        expect(hasher.finish()).toEqual(expected(bytes))
      }
    },
  )

  it('are those of hundreds of chunks, too', () => {
    const sizeBytes = 300 * CHUNK_BYTES + 5
    const hasher = new ChunkHasher({ sizeBytes, sha256 })
    const block = new Uint8Array(CHUNK_BYTES)
    for (let index = 0; index < 300; index += 1) hasher.update(block)
    hasher.update(block.subarray(0, 5))
    const digests = hasher.finish()
    expect(digests).toHaveLength(301 * 32)
    expect(digests.subarray(299 * 32, 300 * 32)).toEqual(Uint8Array.from(sha256.of(block)))
    expect(digests.subarray(300 * 32)).toEqual(Uint8Array.from(sha256.of(block.subarray(0, 5))))
  })

  it('are found beside all other digests, with the addon and without, here and on threads, also as leaves of a DAG', async () => {
    const bytes = scatteredBytes(5_000_000, 3)
    const threads = startHashThreads()
    try {
      for (const hashers of [hashContentHere, hashersHere(sha256HashingWith(undefined)), threads.hashers]) {
        for (const profiles of [[], ['unixfs-v1-2025' as const], ['unixfs-v0-2015' as const]]) {
          const hasher = hashers({ ...WANTED, profiles }, bytes.length)
          for (const chunk of chunksOf(bytes, [CHUNK_BYTES])) await hasher.update(shared(chunk))
          expect((await hasher.digests()).chunkDigests).toEqual(expected(bytes))
        }
      }
    } finally {
      await threads.close()
    }
  })

  it('are not made for a body of one chunk, nor where nobody asks for them', async () => {
    for (const [wanted, sizeBytes] of [
      [WANTED, CHUNK_BYTES],
      [PLAIN, CHUNK_BYTES + 1],
    ] as const) {
      const hasher = hashContentHere(wanted, sizeBytes)
      await hasher.update(new Uint8Array(sizeBytes))
      expect(await hasher.digests()).not.toHaveProperty('chunkDigests')
    }
  })
})
