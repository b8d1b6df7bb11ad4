import { makeLeafProof } from '@lade/core/piece'
import { pieceHashing } from '@lade/node/hashing/piece-hashing'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { LevelCache } from './level-cache.ts'
import { proveBytes } from './prove-bytes.ts'
import { SECTION_BYTES } from './section-roots.ts'
import { testPiece } from './testing-pieces.ts'
import { challengedLeafOf, possessionFlaw } from './verify-possession.ts'

const MiB = 1024 * 1024
const SUBTREE_BYTES = 127 * MiB
/** Reading it again and again in turn makes pieces of any size. */
const BLOCK = testPiece(MiB - 7).bytes

function readRepeated(offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length; ) {
    const from = (offset + at) % BLOCK.length
    const part = BLOCK.subarray(from, from + length - at)
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

function commitTo(sizeBytes: number) {
  const hasher = pieceHashing.create()
  for (let at = 0; at < sizeBytes; at += 4 * MiB) hasher.update(readRepeated(at, Math.min(4 * MiB, sizeBytes - at)))
  return hasher.finish()
}

/** Bytes that say how much of them is read. */
function counted(sizeBytes: number, subtreeRoots?: Uint8Array) {
  const counts = { readBytes: 0, largestRead: 0 }
  const read = async (offset: number, length: number) => {
    counts.readBytes += length
    counts.largestRead = Math.max(counts.largestRead, length)
    return readRepeated(offset, length)
  }
  return { counts, bytes: { sizeBytes, read, ...(subtreeRoots && { subtreeRoots }) } }
}

describe('proveBytes', () => {
  test('proves pieces of every size', async () => {
    const size = fc.oneof(fc.integer({ min: 1, max: 2000 }), fc.integer({ min: 1, max: 400_000 }))
    await fc.assert(
      fc.asyncProperty(size, fc.uint8Array({ minLength: 32, maxLength: 32 }), async (sizeBytes, seed) => {
        const piece = commitTo(sizeBytes)
        const proofs = await proveBytes(counted(sizeBytes).bytes, { piece, seed, count: 3 })
        expect(possessionFlaw({ piece, seed, count: 3 }, proofs)).toBeUndefined()
      }),
      { numRuns: 60 },
    )
  })

  test('gives the proofs that the whole piece gives, with a cached level and without', async () => {
    const edges = [SECTION_BYTES - 1, SECTION_BYTES, SECTION_BYTES + 1, 2 * SECTION_BYTES, 3 * SECTION_BYTES + 127]
    const levels = new LevelCache()
    const seed = new Uint8Array(32).fill(3)
    for (const sizeBytes of edges) {
      const piece = commitTo(sizeBytes)
      const { bytes } = counted(sizeBytes)
      for (let time = 0; time < 2; time += 1) {
        const proofs = await proveBytes(bytes, { piece, seed, count: 5 }, { levels })
        for (const { leafIndex, leaf, proof } of proofs) {
          const { hashPairs } = pieceHashing
          const whole = await makeLeafProof({ rawSizeBytes: sizeBytes, leafIndex, readRaw: readRepeated, hashPairs })
          expect({ leaf, proof }).toEqual({ leaf: whole.leaf, proof: whole.proof })
        }
      }
    }
  })

  describe('of more than 127 MiB', () => {
    const sizeBytes = SUBTREE_BYTES + 1000
    const { subtreeRoots, ...piece } = commitTo(sizeBytes)

    test('read one part of 127 MiB, a mebibyte at a time, however many leaves of it are asked for', async () => {
      const { counts, bytes } = counted(sizeBytes, subtreeRoots)
      const question = { piece, seed: new Uint8Array(32).fill(1), count: 20 }
      expect(possessionFlaw(question, await proveBytes(bytes, question))).toBeUndefined()
      expect(counts.readBytes).toBeLessThanOrEqual(SUBTREE_BYTES + 20 * SECTION_BYTES)
      expect(counts.largestRead).toBeLessThan(1.1 * MiB)
    })

    test('read the last part alone where its leaf is there, also when it is hardly filled', async () => {
      const seed = new Uint8Array(32)
      const view = new DataView(seed.buffer)
      // One leaf in a hundred thousand is there.
      for (let tries = 0; challengedLeafOf({ piece, seed }, 0) < 2 ** 22; tries += 1) view.setUint32(0, tries)
      const { counts, bytes } = counted(sizeBytes, subtreeRoots)
      const question = { piece, seed, count: 1 }
      expect(possessionFlaw(question, await proveBytes(bytes, question))).toBeUndefined()
      expect(counts.readBytes).toBe(1000)
    })

    test('read everything where the roots of the parts are not those of such a piece', async () => {
      const question = { piece, seed: new Uint8Array(32), count: 1 }
      const flipped = subtreeRoots.map((byte, at) => (at === 40 ? byte ^ 1 : byte))
      for (const roots of [new Uint8Array(32), flipped]) {
        const { bytes, counts } = counted(sizeBytes, roots)
        const levels = new LevelCache()
        expect(possessionFlaw(question, await proveBytes(bytes, question, { levels }))).toBeUndefined()
        expect(counts.readBytes).toBe(sizeBytes + SECTION_BYTES)
        await proveBytes(bytes, question, { levels })
        expect(counts.readBytes).toBe(sizeBytes + 2 * SECTION_BYTES)
      }
    })
  })

  describe('with a cached level', () => {
    const sizeBytes = 3 * MiB
    const piece = commitTo(sizeBytes)
    const question = { piece, seed: new Uint8Array(32).fill(8), count: 5 }

    test('reads the sections of the leaves and nothing else', async () => {
      const levels = new LevelCache()
      const { bytes, counts } = counted(sizeBytes)
      await proveBytes(bytes, question, { levels })
      expect(counts.readBytes).toBe(sizeBytes + 5 * SECTION_BYTES)
      counts.readBytes = 0
      expect(possessionFlaw(question, await proveBytes(bytes, question, { levels }))).toBeUndefined()
      expect(counts.readBytes).toBe(5 * SECTION_BYTES)
    })

    test('makes it once for several that ask at a time', async () => {
      const levels = new LevelCache()
      const { bytes, counts } = counted(sizeBytes)
      await Promise.all([1, 2, 3].map(() => proveBytes(bytes, question, { levels })))
      expect(counts.readBytes).toBe(sizeBytes + 15 * SECTION_BYTES)
    })

    test('makes it again where a bit of it has flipped, and proves the piece', async () => {
      const levels = new LevelCache()
      const { bytes, counts } = counted(sizeBytes)
      await proveBytes(bytes, question, { levels })
      const spoilt = { get: vi.fn(), set: levels.set.bind(levels), inTurn: levels.inTurn.bind(levels) }
      spoilt.get.mockImplementation(async (root: string) => (await levels.get(root))?.map((byte) => byte ^ 1))
      counts.readBytes = 0
      const proofs = await proveBytes(bytes, question, { levels: spoilt as unknown as LevelCache })
      expect(possessionFlaw(question, proofs)).toBeUndefined()
      expect(counts.readBytes).toBe(sizeBytes + 5 * SECTION_BYTES)
    })

    test('still proves nothing about bytes that have changed since', async () => {
      const levels = new LevelCache()
      await proveBytes(counted(sizeBytes).bytes, question, { levels })
      const rotten = { sizeBytes, read: async (at: number, length: number) => readRepeated(at + 1, length) }
      const proofs = await proveBytes(rotten, question, { levels })
      expect(possessionFlaw(question, proofs)).toMatch(/does not lead to the root of the piece/)
      const gone = { sizeBytes, read: () => Promise.reject(new Error('gone')) }
      await expect(proveBytes(gone, question, { levels })).rejects.toThrow('gone')
    })

    test('is not kept when it was made of wrong bytes', async () => {
      const levels = new LevelCache()
      const rotten = { sizeBytes, read: async (at: number, length: number) => readRepeated(at + 1, length) }
      expect(possessionFlaw(question, await proveBytes(rotten, question, { levels }))).toBeDefined()
      const proofs = await proveBytes(counted(sizeBytes).bytes, question, { levels })
      expect(possessionFlaw(question, proofs)).toBeUndefined()
    })
  })

  test('tells what it costs, and stops when nobody waits for it any more', async () => {
    const sizeBytes = 20 * MiB
    const piece = commitTo(sizeBytes)
    const question = { piece, seed: new Uint8Array(32), count: 5 }
    const levels = new LevelCache()
    const costOf = async (): Promise<number> => {
      let costMs = 0
      await proveBytes(counted(sizeBytes).bytes, question, { levels, onProcessorMs: (ms) => (costMs += ms) })
      return costMs
    }
    // Verifying what is read is counted at a millisecond for a MiB.
    expect(await costOf()).toBeGreaterThan(20)
    expect(await costOf()).toBeLessThan(50)

    const controller = new AbortController()
    const { bytes, counts } = counted(sizeBytes)
    const read = (at: number, length: number) => {
      if (at >= 2 * MiB) controller.abort(new Error('nobody waits'))
      return bytes.read(at, length)
    }
    const ended = proveBytes({ sizeBytes, read }, question, { signal: controller.signal })
    await expect(ended).rejects.toThrow('nobody waits')
    expect(counts.readBytes).toBe(3 * MiB)
  })

  test('proves nothing about other bytes, and takes no other size', async () => {
    const piece = commitTo(300_000)
    const seed = new Uint8Array(32).fill(5)
    const other = { sizeBytes: 300_000, read: async (at: number, length: number) => readRepeated(at + 1, length) }
    const proofs = await proveBytes(other, { piece, seed, count: 5 })
    expect(possessionFlaw({ piece, seed, count: 5 }, proofs)).toMatch(/does not lead to the root of the piece/)
    await expect(proveBytes({ ...other, sizeBytes: 299_999 }, { piece, seed, count: 5 })).rejects.toThrow(TypeError)
  })
})

describe('possessionFlaw', () => {
  test('sees another number of proofs, another leaf and any changed bit', async () => {
    const piece = commitTo(10_000)
    const seed = new Uint8Array(32).fill(9)
    const question = { piece, seed, count: 2 }
    const proofs = await proveBytes(counted(10_000).bytes, question)
    const [first, second] = proofs
    if (first === undefined || second === undefined) throw new Error('there are two')
    expect(possessionFlaw(question, proofs)).toBeUndefined()
    expect(possessionFlaw(question, [first])).toBe('The prover returned 1 proofs instead of 2.')
    expect(possessionFlaw(question, [second, first])).toMatch(/is about leaf \d+ instead of \d+/)
    expect(possessionFlaw({ ...question, seed: new Uint8Array(32) }, proofs)).toBeDefined()
    const changed = fc.tuple(fc.nat({ max: first.proof.length }), fc.nat({ max: 255 }))
    fc.assert(
      fc.property(changed, ([node, bit]) => {
        const flip = (bytes: Uint8Array) => bytes.map((byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))
        const isLeaf = node === first.proof.length
        const forged = isLeaf
          ? { ...first, leaf: flip(first.leaf) }
          : { ...first, proof: first.proof.map((sibling, at) => (at === node ? flip(sibling) : sibling)) }
        expect(possessionFlaw(question, [forged, second])).toMatch(/does not lead to the root of the piece/)
      }),
    )
  })
})
