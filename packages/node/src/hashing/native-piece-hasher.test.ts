import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hashInto } from '@chainsafe/hashtree'
import { type HashPairs, hashPiece, joinPieces, PieceHasher, pieceCidV2, pieceCidV2Bytes } from '@lade/core/piece'
import fc from 'fast-check'
import { create as createWasmHasher } from 'fr32-sha2-256-trunc254-padded-binary-tree-multihash'
import { describe, expect, test } from 'vitest'
import { nativePieceHashing, SECTION_HEIGHT } from './native-piece-hasher.ts'
import { chunksOf, scatteredBytes, shared } from './testing-bodies.ts'

const { create, whole } = nativePieceHashing(hashInto)

function hashChunks(chunks: Iterable<Uint8Array>) {
  const hasher = create()
  for (const chunk of chunks) hasher.update(chunk)
  return hasher.finish()
}

/** An entry of `vectors/piece/commp.json`, as far as it is checked. */
interface PieceVector {
  readonly name: string
  readonly gen: {
    readonly fill?: readonly (readonly [byte: number, count: number])[]
    readonly affine?: readonly [a: number, b: number, size: number]
    readonly utf8?: string
  }
  readonly pieceCidV2: string
}

const VECTORS: readonly PieceVector[] = JSON.parse(
  readFileSync(new URL('../../../../vectors/piece/commp.json', import.meta.url), 'utf8'),
)

function bytesOfVector({ fill, affine, utf8 = '' }: PieceVector['gen']): Buffer {
  if (fill !== undefined) return Buffer.concat(fill.map(([byte, count]) => Buffer.alloc(count, byte)))
  if (affine === undefined) return Buffer.from(utf8)
  const [a, b, size] = affine
  return Buffer.from(Array.from({ length: size }, (_, index) => a * index + b))
}

/** The multihash digest that fr32-sha2-256-trunc254-padded-binary-tree-multihash computes. */
function digestByWasm(bytes: Uint8Array): Uint8Array {
  const hasher = createWasmHasher()
  hasher.write(bytes)
  const digest = new Uint8Array(hasher.digestByteLength())
  hasher.digestInto(digest, 0, false)
  hasher.free()
  return digest
}

/** Sizes at and around quads, batches, and what is gathered of small chunks. */
const someSize = fc
  .tuple(fc.constantFrom(0, 127, 254, 508, 1016, 4064, 65_024, 130_048, 260_096), fc.integer({ min: -2, max: 300 }))
  .map(([size, more]) => Math.max(0, size + more))
const someBytes = fc.tuple(someSize, fc.integer()).map(([size, seed]) => scatteredBytes(size, seed))
const someLengths = fc.array(
  fc.oneof(fc.nat({ max: 300 }), fc.constantFrom(127, 65_023, 65_024, 130_048), fc.nat({ max: 200_000 })),
  { minLength: 1, maxLength: 5 },
)

describe('NativePieceHasher', () => {
  test.each(VECTORS)('computes the vector $name', ({ gen, pieceCidV2: expected }) => {
    const bytes = bytesOfVector(gen)
    expect(pieceCidV2(whole(bytes))).toBe(expected)
    expect(pieceCidV2(hashChunks(chunksOf(bytes, [7, 300])))).toBe(expected)
  })

  test('gives what the portable hasher gives, however the bytes are cut', () => {
    fc.assert(
      fc.property(someBytes, someLengths, (bytes, lengths) => {
        const expected = hashPiece(bytes)
        expect(hashChunks(chunksOf(bytes, lengths))).toEqual(expected)
        expect(whole(bytes)).toEqual(expected)
      }),
      { numRuns: 150 },
    )
  })

  test.each([1_048_575, 1_048_576, 1_048_577, 3_000_000, 127 * 2 ** 14])(
    'agrees with another implementation on %i bytes',
    (size) => {
      const bytes = scatteredBytes(size, size)
      // After version, codec, two bytes of hash code, and length.
      const digestOf = (chunks: Iterable<Uint8Array>) => pieceCidV2Bytes(hashChunks(chunks)).subarray(5)
      const expected = digestByWasm(bytes)
      for (const lengths of [[size], [1_048_576], [65_536], [130_048, 5]]) {
        expect(digestOf(chunksOf(bytes, lengths))).toEqual(expected)
      }
    },
  )

  test('keeps hashers apart that take turns', () => {
    const bodies = [100, 300_000, 1_100_000, 2].map((size) => scatteredBytes(size, size))
    const hashers = bodies.map(() => create())
    for (let at = 0; at < 1_100_000; at += 70_001) {
      for (const [index, hasher] of hashers.entries())
        hasher.update(bodies[index]?.subarray(at, at + 70_001) ?? shared(Buffer.of()))
    }
    expect(hashers.map((hasher) => hasher.finish())).toEqual(bodies.map((body) => hashPiece(body)))
  })

  test('learns the roots of sections that core finds, however the bytes are cut', () => {
    const size = fc.oneof(
      fc.integer({ min: 260_097, max: 900_000 }),
      fc.constantFrom(520_192, 520_193, 780_288, 1_040_384),
    )
    fc.assert(
      fc.property(size, someLengths, (size, lengths) => {
        const bytes = scatteredBytes(size, size)
        const core = new PieceHasher({ subtreeHeight: SECTION_HEIGHT })
        core.update(bytes)
        const hasher = create({ withSections: true })
        for (const chunk of chunksOf(bytes, lengths)) hasher.update(chunk)
        const { sectionRoots, ...digest } = hasher.finish()
        expect(sectionRoots).toEqual(core.finish().subtreeRoots)
        expect(digest).toEqual(hashPiece(bytes))
      }),
      { numRuns: 40 },
    )
  })

  test('has read a chunk of shared memory when update returns', () => {
    const bytes = scatteredBytes(600_000, 3)
    for (const chunkBytes of [1000, 200_000]) {
      const hasher = create()
      const chunk = shared(Buffer.alloc(chunkBytes))
      for (let at = 0; at < bytes.length; at += chunkBytes) {
        chunk.set(bytes.subarray(at, at + chunkBytes))
        hasher.update(chunk)
        chunk.fill(0xff)
      }
      expect(hasher.finish()).toEqual(hashPiece(bytes))
    }
  })

  test('gives results that later hashing does not change', () => {
    const [first, second] = [scatteredBytes(5000, 1), scatteredBytes(300_000, 2)]
    const digest = whole(first)
    whole(second)
    expect(digest).toEqual(hashPiece(first))
  })

  test('knows the subtrees of a piece of more than 127 MiB', () => {
    const subtreeRawBytes = 127 * 2 ** 20
    const block = scatteredBytes(2 ** 20, 1)
    const blocks = (sizeBytes: number) => chunksOf(Buffer.alloc(sizeBytes, block), [2 ** 20])
    const subtree = hashChunks(blocks(subtreeRawBytes))
    expect(subtree.subtreeRoots).toHaveLength(0)
    for (const moreBytes of [1, 126, 2 ** 20 + 5, subtreeRawBytes]) {
      const more = hashChunks(blocks(moreBytes))
      const digest = hashChunks(blocks(subtreeRawBytes + moreBytes))
      expect(digest).toEqual(joinPieces([subtree, more], { hashPairs: hashInto }))
      expect(digest.subtreeRoots).toHaveLength(2 * 32)
    }
  })

  test('hashes each pair once, in big calls', () => {
    const calls: number[] = []
    const hashPairs: HashPairs = (nodes, parents) => {
      calls.push(nodes.length)
      hashInto(nodes, parents)
    }
    const block = scatteredBytes(2 ** 20, 4)
    const hasher = nativePieceHashing(hashPairs).create()
    for (let turn = 0; turn < 8; turn += 1) hasher.update(block)
    expect(hasher.finish()).toEqual(hashPiece(Buffer.alloc(8 * 2 ** 20, block)))
    const hashedBytes = calls.reduce((sum, length) => sum + length, 0)
    // Leaves, and as many bytes again of all levels above, with a zero commitment here and there.
    const paddedBytes = (8 * 2 ** 20 * 128) / 127
    expect(hashedBytes).toBeGreaterThan(2 * paddedBytes - 1000)
    expect(hashedBytes).toBeLessThan(2 * paddedBytes + 4000)
    const bigBytes = calls.filter((length) => length >= 65_536).reduce((sum, length) => sum + length, 0)
    expect(bigBytes / hashedBytes).toBeGreaterThan(0.7)
  })

  test('is spent when it has finished', () => {
    const hasher = create()
    hasher.finish()
    expect(() => hasher.update(Buffer.of(1))).toThrow(TypeError)
    expect(() => hasher.finish()).toThrow(TypeError)
  })
})

test('hashInto hashes pairs of nodes as node:crypto does', () => {
  const nodes = scatteredBytes(64 * 100, 6)
  const parents = new Uint8Array(32 * 100)
  hashInto(nodes, parents)
  for (let pair = 0; pair < 100; pair += 1) {
    const expected = createHash('sha256').update(nodes.subarray(64 * pair, 64 * (pair + 1)))
    expect(Buffer.from(parents.subarray(32 * pair, 32 * (pair + 1)))).toEqual(expected.digest())
  }
})
