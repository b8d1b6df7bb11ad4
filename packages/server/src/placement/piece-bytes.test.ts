import { LadeError } from '@lade/core/errors'
import { Aggregate, hashPiece, rawOffsetBytes } from '@lade/core/piece'
import { hexOf } from '@lade/node/hashing/hex'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { seededBytes } from '../blobs/conformance/seeded-bytes.ts'
import type { AggregateMember, PieceRecord } from '../records/record-store.ts'
import { pieceBytes } from './piece-bytes.ts'
import { openPlacementFixture, type PlacementFixture } from './testing-placement.ts'

describe('pieceBytes', () => {
  let fixture: PlacementFixture
  beforeEach(async () => {
    fixture = await openPlacementFixture()
  })
  afterEach(() => fixture.close())

  /** An aggregate of these bytes as it is recorded, and as it is when it is built whole. */
  async function aggregateOf(contents: readonly Uint8Array[]) {
    const sorted = contents.toSorted((a, b) => b.length - a.length)
    const aggregate = new Aggregate(sorted.map((bytes) => hashPiece(bytes)))
    const files = await Promise.all(sorted.map((bytes, at) => fixture.put(bytes, { isBlob: at % 2 === 0 })))
    const members = files.map(
      (file, at): AggregateMember => ({
        object: file.object,
        pieceRoot: file.pieceRoot ?? '',
        sizeBytes: file.sizeBytes,
        paddedOffsetBytes: aggregate.segments[at]?.paddedOffsetBytes ?? 0,
        isKept: true,
      }),
    )
    const whole = new Uint8Array(aggregate.commitment.rawSizeBytes)
    for (const [at, { paddedOffsetBytes }] of members.entries()) {
      whole.set(sorted[at] ?? new Uint8Array(), rawOffsetBytes(paddedOffsetBytes))
    }
    whole.set(aggregate.writeRawIndex(), aggregate.rawIndexOffsetBytes)
    const pieceRoot = hexOf(aggregate.commitment.root)
    const piece: PieceRecord = { id: 1, pieceRoot, sizeBytes: whole.length, source: { kind: 'aggregate' } }
    return { piece, members, whole }
  }

  function readerOf(piece: PieceRecord, members: readonly AggregateMember[]) {
    const placements = { ...fixture.records.placements, membersOf: async () => members }
    return pieceBytes({ records: { ...fixture.records, placements }, blobs: fixture.blobs }, piece)
  }

  it('are, of an aggregate, those of the aggregate built whole, for any range', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.nat({ max: 300 }), fc.nat({ max: 20_000 })), { minLength: 1, maxLength: 9 }),
        fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }))),
        async (sizes, ranges) => {
          const { piece, members, whole } = await aggregateOf(sizes.map((size, at) => seededBytes(size + 1, at)))
          const bytes = readerOf(piece, members)
          expect(Buffer.compare(await bytes.read(0, whole.length), whole)).toBe(0)
          expect(hexOf(hashPiece(await bytes.read(0, bytes.sizeBytes)).root)).toBe(piece.pieceRoot)
          for (const [start, share] of ranges) {
            const offset = Math.floor(start * whole.length)
            const length = Math.floor(share * (whole.length - offset))
            expect(Buffer.compare(await bytes.read(offset, length), whole.subarray(offset, offset + length))).toBe(0)
          }
        },
      ),
      { numRuns: 25 },
    )
  })

  it('are, of an object, those of its slice, inline and in the blob store', async () => {
    for (const isBlob of [false, true]) {
      const content = seededBytes(5000, isBlob ? 1 : 2)
      const { object } = await fixture.put(content, { isBlob })
      const source = { kind: 'object', object, offsetBytes: 1000 } as const
      const slice = pieceBytes(fixture, { id: 1, pieceRoot: '', sizeBytes: 3000, source })
      expect(Buffer.compare(await slice.read(0, 3000), content.subarray(1000, 4000))).toBe(0)
      expect(Buffer.compare(await slice.read(2990, 10), content.subarray(3990, 4000))).toBe(0)
      expect(() => slice.chunks({ offset: 2990, length: 11 })).toThrow(TypeError)
    }
  })

  it('error: storage_failed for a member whose bytes are gone, and the others can be read', async () => {
    const { piece, members, whole } = await aggregateOf([seededBytes(1000, 1), seededBytes(100, 2)])
    const [first, second] = members
    if (first === undefined || second === undefined) throw new TypeError('two members')
    const bytes = readerOf(piece, [{ ...first, isKept: false }, second])
    const failure = await bytes.read(0, 10).catch((error: unknown) => error)
    expect(LadeError.has(failure, 'storage_failed')).toBe(true)
    const offset = rawOffsetBytes(second.paddedOffsetBytes)
    expect(Buffer.compare(await bytes.read(offset, 100), whole.subarray(offset, offset + 100))).toBe(0)
  })

  it('error: storage_failed for an aggregate whose recorded members are others, or stand elsewhere', async () => {
    const { piece, members } = await aggregateOf([seededBytes(1000, 1), seededBytes(900, 2), seededBytes(100, 3)])
    const [first, second, third] = members
    if (first === undefined || second === undefined || third === undefined) throw new TypeError('three members')
    const swapped = { ...first, object: second.object, pieceRoot: second.pieceRoot, sizeBytes: second.sizeBytes }
    for (const others of [
      [swapped, second, third],
      [first, second],
      [first, second, { ...third, paddedOffsetBytes: third.paddedOffsetBytes + 128 }],
      [first, second, { ...third, sizeBytes: 200 }],
      [first, second, { ...third, sizeBytes: 2 ** 40 }],
      [],
    ]) {
      const failure = await readerOf(piece, others)
        .read(0, 10)
        .catch((error: unknown) => error)
      expect(LadeError.has(failure, 'storage_failed'), JSON.stringify(others)).toBe(true)
    }
  })
})
