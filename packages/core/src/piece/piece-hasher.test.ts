import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Piece } from '@web3-storage/data-segment'
import fc from 'fast-check'
import { create as createWasmHasher } from 'fr32-sha2-256-trunc254-padded-binary-tree-multihash'
import { base16 } from 'multiformats/bases/base16'
import { describe, expect, test } from 'vitest'
import type { HashPairs } from './hash-pairs.ts'
import { pieceCidV1, pieceCidV2, pieceCidV2Bytes } from './piece-cid.ts'
import { hashPiece, PieceHasher, type PieceHasherOptions } from './piece-hasher.ts'
import { paddedSizeBytes, paddingBytes, pieceHeight, rawCapacityBytes } from './piece-size.ts'
import { bytesOfVector, chunksOf, type PieceVector, scatteredBytes } from './testing-pieces.ts'
import { zeroCommitment } from './zero-commitments.ts'

const VECTORS: readonly PieceVector[] = JSON.parse(
  readFileSync(new URL('../../../../vectors/piece/commp.json', import.meta.url), 'utf8'),
)

function hashChunks(chunks: Iterable<Uint8Array>, options: PieceHasherOptions = {}) {
  const hasher = new PieceHasher(options)
  for (const chunk of chunks) hasher.update(chunk)
  return hasher.finish()
}

/** The multihash digest that fr32-sha2-256-trunc254-padded-binary-tree-multihash computes. */
function digestByWasm(chunks: Iterable<Uint8Array>): Uint8Array {
  const hasher = createWasmHasher()
  for (const chunk of chunks) hasher.write(chunk)
  const digest = new Uint8Array(hasher.digestByteLength())
  hasher.digestInto(digest, 0, false)
  hasher.free()
  return digest
}

/** The multihash digest inside the bytes of a piece CID v2: after version, codec, two bytes of hash code, and length. */
const digestOf = (bytes: Uint8Array) => pieceCidV2Bytes(hashPiece(bytes)).subarray(5)

const BOUNDARY_SIZES = [0, 1, 64, 65, 126, 127, 128, 253, 254, 255, 507, 508, 509, 1015, 1016, 1017]
const someSize = fc.oneof(
  fc.constantFrom(...BOUNDARY_SIZES),
  fc.nat({ max: 5000 }),
  fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: -1, max: 1 })).map(([quads, by]) => 127 * quads + by),
)
const someBytes = fc.tuple(someSize, fc.integer()).map(([size, seed]) => scatteredBytes(size, seed))
const someLengths = fc.array(fc.oneof(fc.nat({ max: 5 }), fc.nat({ max: 700 })), { minLength: 1, maxLength: 6 })

describe('PieceHasher', () => {
  test.each(VECTORS)('computes the vector $name', (vector) => {
    const bytes = bytesOfVector(vector.gen)
    const digest = hashPiece(bytes)
    expect(digest).toEqual({
      root: base16.baseDecode(vector.root),
      rawSizeBytes: vector.rawSize,
      subtreeRoots: new Uint8Array(),
    })
    expect(pieceHeight(bytes.length)).toBe(vector.height)
    expect(paddingBytes(bytes.length)).toBe(vector.padding)
    expect(paddedSizeBytes(bytes.length)).toBe(vector.paddedSize)
    expect(pieceCidV1(digest.root)).toBe(vector.pieceCidV1)
    expect(pieceCidV2(digest)).toBe(vector.pieceCidV2)
  })

  test('agrees with two other implementations, however the bytes are cut', () => {
    fc.assert(
      fc.property(someBytes, someLengths, (bytes, lengths) => {
        const chunks = chunksOf(bytes, lengths)
        const multihashDigest = pieceCidV2Bytes(hashChunks(chunks)).subarray(5)
        expect(multihashDigest).toEqual(digestByWasm(chunks))
        expect(multihashDigest).toEqual(Piece.fromPayload(bytes).link.multihash.digest)
      }),
      { numRuns: 600 },
    )
  })

  test.each([
    65_023, 65_024, 65_025, 66_559, 66_560, 66_561, 130_047, 130_048, 130_049, 1_040_383, 1_040_384, 1_040_385,
    1_048_575, 1_048_576, 1_048_577,
  ])('agrees with another implementation on %i bytes, however they are cut', (size) => {
    const bytes = scatteredBytes(size, size)
    const expected = digestByWasm([bytes])
    expect(digestOf(bytes)).toEqual(expected)
    for (const lengths of [[65_024], [1, 70_000, 131_072], [65_023, 2, 300], [100_000, 0, 7]]) {
      expect(pieceCidV2Bytes(hashChunks(chunksOf(bytes, lengths))).subarray(5)).toEqual(expected)
    }
  })

  test('has read a chunk when update returns', () => {
    const bytes = scatteredBytes(200_000, 3)
    const hasher = new PieceHasher()
    const chunk = new Uint8Array(50_000)
    for (let at = 0; at < bytes.length; at += chunk.length) {
      chunk.set(bytes.subarray(at, at + chunk.length))
      hasher.update(chunk)
      chunk.fill(0xff)
    }
    expect(hasher.finish()).toEqual(hashPiece(bytes))
  })

  test('does not mind zeros at the end, except in the size', () => {
    const bytes = scatteredBytes(513, 5)
    const longer = new Uint8Array(1000)
    longer.set(bytes)
    expect(hashPiece(longer).root).toEqual(hashPiece(bytes).root)
    expect(pieceCidV2(hashPiece(longer))).not.toBe(pieceCidV2(hashPiece(bytes)))
  })

  test('hashes with what it is handed, whole pairs in memory of their own', () => {
    let pairs = 0
    const hashPairs: HashPairs = (nodes, parents) => {
      const from = nodes.byteOffset
      const overlaps =
        nodes.buffer === parents.buffer &&
        from < parents.byteOffset + parents.length &&
        parents.byteOffset < from + nodes.length
      expect(overlaps).toBe(false)
      expect(nodes.length).toBe(2 * parents.length)
      expect(nodes.length).toBeGreaterThan(0)
      for (let at = 0; at < parents.length; at += 32) {
        parents.set(
          createHash('sha256')
            .update(nodes.subarray(2 * at, 2 * at + 64))
            .digest(),
          at,
        )
        pairs += 1
      }
    }
    const bytes = scatteredBytes(70_000, 9)
    expect(hashPiece(bytes, { hashPairs })).toEqual(hashPiece(bytes))
    // Every pair with raw bytes under it is hashed once: 2205 leaves, then 1103, 552, ... nodes.
    expect(pairs).toBeGreaterThan(2205)
    expect(pairs).toBeLessThan(2205 + 12)
  })

  test('is spent when it has finished', () => {
    const hasher = new PieceHasher()
    hasher.finish()
    expect(() => hasher.update(new Uint8Array(1))).toThrow(TypeError)
    expect(() => hasher.finish()).toThrow(TypeError)
  })

  test('refuses a subtree height that no tree has', () => {
    for (const subtreeHeight of [1, 51, 2.5, Number.NaN])
      expect(() => new PieceHasher({ subtreeHeight })).toThrow(TypeError)
  })
})

describe('subtreeRoots', () => {
  const hashPair = (left: Uint8Array, right: Uint8Array) => {
    const parent = new Uint8Array(createHash('sha256').update(left).update(right).digest())
    parent[31] = (parent[31] ?? 0) & 0x3f
    return parent
  }

  test('are the roots of the parts, the last one over zeros, and the root does not depend on them', () => {
    fc.assert(
      fc.property(someBytes, someLengths, fc.integer({ min: 2, max: 9 }), (bytes, lengths, subtreeHeight) => {
        const { root, subtreeRoots } = hashChunks(chunksOf(bytes, lengths), { subtreeHeight })
        const partBytes = rawCapacityBytes(subtreeHeight)
        const expected: number[] = []
        for (let at = 0; at < bytes.length && bytes.length > partBytes; at += partBytes) {
          const part = hashPiece(bytes.subarray(at, at + partBytes))
          let node = part.root
          for (let height = pieceHeight(part.rawSizeBytes); height < subtreeHeight; height += 1) {
            node = hashPair(node, zeroCommitment(height))
          }
          expected.push(...node)
        }
        expect([...subtreeRoots]).toEqual(expected)
        expect(root).toEqual(hashPiece(bytes).root)
      }),
      { numRuns: 200 },
    )
  })

  test('are kept at heights above one batch', () => {
    const bytes = scatteredBytes(400_000, 11)
    for (const [subtreeHeight, count] of [
      [10, 13],
      [11, 7],
      [12, 4],
      [13, 2],
      [14, 0],
    ] as const) {
      const { root, subtreeRoots } = hashPiece(bytes, { subtreeHeight })
      expect(subtreeRoots.length).toBe(32 * count)
      expect(root).toEqual(hashPiece(bytes).root)
    }
  })

  test('stand for 127 MiB each by default', () => {
    // A hash that costs nothing: only the number of roots is looked at.
    const hashPairs: HashPairs = (nodes, parents) => parents.set(nodes.subarray(0, parents.length))
    const mebibyte = new Uint8Array(1 << 20)
    const countAfter = (extraBytes: number) => {
      const chunks = [...Array<Uint8Array>(127).fill(mebibyte), mebibyte.subarray(0, extraBytes)]
      return hashChunks(chunks, { hashPairs }).subtreeRoots.length / 32
    }
    expect([countAfter(0), countAfter(1)]).toEqual([0, 2])
  })
})

describe('zeroCommitment', () => {
  test('is 32 zeros, and then the hash of two of the height below', () => {
    expect(zeroCommitment(0)).toEqual(new Uint8Array(32))
    for (let height = 1; height <= 63; height += 1) {
      const below = zeroCommitment(height - 1)
      const expected = createHash('sha256').update(below).update(below).digest()
      expect(zeroCommitment(height).subarray(0, 31)).toEqual(new Uint8Array(expected.subarray(0, 31)))
      expect(zeroCommitment(height)[31]).toBe((expected[31] ?? 0) & 0x3f)
    }
  })

  test('is the caller to change', () => {
    zeroCommitment(5).fill(1)
    expect(zeroCommitment(5)).toEqual(hashPiece(new Uint8Array(1016)).root)
  })

  test('refuses heights that no tree has', () => {
    for (const height of [-1, 64, 1.5]) expect(() => zeroCommitment(height)).toThrow(TypeError)
  })
})
