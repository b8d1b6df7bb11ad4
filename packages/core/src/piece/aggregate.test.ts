import { Aggregate as DataSegmentAggregate, Piece } from '@web3-storage/data-segment'
import fc from 'fast-check'
import { CID } from 'multiformats/cid'
import { describe, expect, test } from 'vitest'
import { Aggregate } from './aggregate.ts'
import { unpadFr32 } from './fr32.ts'
import { verifyInclusion } from './inclusion-proof.ts'
import { readIndex, writeIndex } from './index-entry.ts'
import { pieceCidV1, pieceCidV2 } from './piece-cid.ts'
import { hashPiece } from './piece-hasher.ts'
import { rawCapacityBytes } from './piece-size.ts'
import { aggregateHeightOf, indexEntryCount, indexOffsetBytes, placePieces, rawOffsetBytes } from './segment.ts'
import { bytesOfVector, scatteredBytes } from './testing-pieces.ts'

/** Three payloads and their aggregate of 1 MiB, computed with @web3-storage/data-segment 5.3.0. */
const PAYLOADS = [new Uint8Array(127).fill(1), new Uint8Array(1016).fill(0xcc), bytesOfVector({ utf8: 'hello world' })]
const PIECES = PAYLOADS.map((payload) => hashPiece(payload))
const AGGREGATE_V1 = 'baga6ea4seaqckrrofonvd55mhjjypwqovwtpfpsws6wjvmgrsroim2csypspgci'
const AGGREGATE_V2 = 'bafkzcibcaahskrrofonvd55mhjjypwqovwtpfpsws6wjvmgrsroim2csypspgci'

/** The aggregate's raw bytes, written as its documentation says. */
function payloadOf(aggregate: Aggregate, payloads: readonly Uint8Array[]): Uint8Array {
  const raw = new Uint8Array(aggregate.commitment.rawSizeBytes)
  for (const [number, { paddedOffsetBytes }] of aggregate.segments.entries()) {
    raw.set(payloads[number] ?? new Uint8Array(0), rawOffsetBytes(paddedOffsetBytes))
  }
  const index = aggregate.writeRawIndex()
  expect(aggregate.rawIndexOffsetBytes + index.length).toBe(raw.length)
  raw.set(index, aggregate.rawIndexOffsetBytes)
  return raw
}

/** Payloads of many heights, none twice. */
const somePayloads = fc
  .array(fc.oneof(fc.nat({ max: 300 }), fc.nat({ max: 5000 })), { minLength: 1, maxLength: 12 })
  .map((sizes) => sizes.map((size, seed) => scatteredBytes(size + 1, 2 * seed + 1)))

describe('Aggregate', () => {
  test('of the three pieces of the vector has its piece CIDs', () => {
    const { commitment } = new Aggregate(PIECES, { height: 15 })
    expect(pieceCidV1(commitment.root)).toBe(AGGREGATE_V1)
    expect(pieceCidV2(commitment)).toBe(AGGREGATE_V2)
    expect(commitment.rawSizeBytes).toBe(1_040_384)
  })

  test('is the piece of its payload, written as it says', () => {
    const vector = new Aggregate(PIECES, { height: 15 })
    expect(pieceCidV2(hashPiece(payloadOf(vector, PAYLOADS)))).toBe(AGGREGATE_V2)
    fc.assert(
      fc.property(somePayloads, (payloads) => {
        const aggregate = new Aggregate(payloads.map((payload) => hashPiece(payload)))
        expect(hashPiece(payloadOf(aggregate, payloads)).root).toEqual(aggregate.commitment.root)
      }),
      { numRuns: 50 },
    )
  })

  test('has the root and the inclusion proofs that another implementation computes', () => {
    fc.assert(
      fc.property(somePayloads, fc.nat({ max: 3 }), (payloads, extraHeight) => {
        const pieces = payloads.map((payload) => hashPiece(payload))
        const links = payloads.map((payload) => Piece.fromPayload(payload))
        const height = aggregateHeightOf(pieces) + extraHeight
        const aggregate = new Aggregate(pieces, { height })
        const theirs = DataSegmentAggregate.build({
          pieces: links,
          size: DataSegmentAggregate.Size.from(32n << BigInt(height)),
        })
        expect(pieceCidV2(aggregate.commitment)).toBe(theirs.link.toString())
        for (const [number, { link }] of links.entries()) {
          const { segment, entry } = aggregate.proveInclusion(number)
          expect(theirs.resolveProof(link).ok).toEqual([
            [BigInt(segment.position), segment.siblings],
            [BigInt(entry.position), entry.siblings],
          ])
        }
      }),
      { numRuns: 40 },
    )
  })

  test('names its segments in its index', () => {
    const aggregate = new Aggregate(PIECES, { height: 15 })
    expect(unpadFr32(writeIndex(aggregate.segments, 15))).toEqual(aggregate.writeRawIndex())
    const named = readIndex(writeIndex(aggregate.segments, 15), 15)
    expect(named.map(({ segment }) => segment)).toEqual(aggregate.segments)
    expect(named.map(({ segment }) => segment.root)).toEqual(PIECES.map(({ root }) => root))
  })

  test('of one 32 GiB sector takes a hundred pieces without reading any', () => {
    const pieces = Array.from({ length: 100 }, (_, seed) => ({
      root: hashPiece(scatteredBytes(100, seed)).root,
      rawSizeBytes: rawCapacityBytes(22) - seed,
    }))
    const aggregate = new Aggregate(pieces, { height: 30 })
    expect(aggregate.commitment.rawSizeBytes).toBe(34_091_302_912)
    for (const [number, piece] of pieces.entries()) {
      const proof = aggregate.proveInclusion(number)
      expect(verifyInclusion({ aggregate: aggregate.commitment, piece, proof })).toBe(true)
    }
    const theirs = DataSegmentAggregate.build({
      pieces: pieces.map(({ root }) => ({ root, height: 22, padding: 0n })),
      size: DataSegmentAggregate.DEFAULT_DEAL_SIZE,
    })
    expect(CID.parse(pieceCidV1(aggregate.commitment.root)).multihash.digest).toEqual(theirs.root)
  })

  test('without pieces is all zeros', () => {
    const { height, commitment } = new Aggregate([])
    expect(height).toBe(4)
    expect(commitment).toEqual({ root: hashPiece(new Uint8Array(508)).root, rawSizeBytes: 508 })
  })

  test('has no proof for a segment that it has not', () => {
    expect(() => new Aggregate(PIECES).proveInclusion(3)).toThrow(TypeError)
  })
})

describe('placePieces', () => {
  const piece = (rawSizeBytes: number) => ({ root: new Uint8Array(32), rawSizeBytes })

  test('places each piece at a multiple of its size, in order, without overlap', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 100_000 }), { maxLength: 20 }), (sizes) => {
        let endBytes = 0
        for (const { paddedOffsetBytes, paddedSizeBytes } of placePieces(sizes.map(piece), 30)) {
          expect(paddedOffsetBytes % paddedSizeBytes).toBe(0)
          expect(paddedOffsetBytes - endBytes).toBeGreaterThanOrEqual(0)
          expect(paddedOffsetBytes - endBytes).toBeLessThan(paddedSizeBytes)
          endBytes = paddedOffsetBytes + paddedSizeBytes
        }
      }),
    )
  })

  test('leaves no gap in the order of falling sizes', () => {
    const segments = placePieces([4000, 1017, 1016, 500, 1].map(piece), 20)
    expect(segments.map(({ paddedOffsetBytes }) => paddedOffsetBytes)).toEqual([0, 4096, 6144, 7168, 7680])
  })

  test('refuses pieces that reach into the index, and more than it has entries', () => {
    expect(placePieces([piece(127), piece(127)], 4)).toHaveLength(2)
    expect(() => placePieces([piece(127), piece(127), piece(127)], 4)).toThrow(TypeError)
    expect(() => placePieces([piece(508)], 4)).toThrow(TypeError)
    expect(placePieces(Array(4).fill(piece(1)), 10)).toHaveLength(4)
    expect(() => placePieces(Array(5).fill(piece(1)), 10)).toThrow(TypeError)
    for (const height of [3, 49, 4.5]) expect(() => placePieces([], height)).toThrow(TypeError)
  })
})

describe('aggregateHeightOf', () => {
  test('is the least height that takes the pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 100_000 }), { maxLength: 20 }), (sizes) => {
        const pieces = sizes.map((rawSizeBytes) => ({ root: new Uint8Array(32), rawSizeBytes }))
        const height = aggregateHeightOf(pieces)
        expect(placePieces(pieces, height)).toHaveLength(pieces.length)
        expect(() => placePieces(pieces, height - 1)).toThrow(TypeError)
      }),
    )
  })

  test('is none for pieces that fit nowhere', () => {
    expect(() => aggregateHeightOf([{ root: new Uint8Array(32), rawSizeBytes: Number.MAX_SAFE_INTEGER }])).toThrow(
      TypeError,
    )
  })
})

describe('the index', () => {
  test('has the entries that FRC-0058 names, at the end of the aggregate', () => {
    expect([4, 10, 19, 20, 25, 30, 31].map(indexEntryCount)).toEqual([4, 4, 128, 256, 8192, 262_144, 524_288])
    expect(indexOffsetBytes(25)).toBe(2 ** 30 - 2 ** 19)
    expect(indexOffsetBytes(30)).toBe(2 ** 35 - 2 ** 24)
  })
})
