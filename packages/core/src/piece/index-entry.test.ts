import { sha256 } from '@noble/hashes/sha2.js'
import fc from 'fast-check'
import { base16 } from 'multiformats/bases/base16'
import { describe, expect, test } from 'vitest'
import { readIndex, readIndexEntry, writeIndex, writeIndexEntry } from './index-entry.ts'
import { hashPiece } from './piece-hasher.ts'
import { indexEntryCount, indexOffsetBytes, placePieces, type Segment } from './segment.ts'
import { bytesOfVector } from './testing-pieces.ts'

const ROOT = new Uint8Array(32).fill(0x2a)
const PIECES = [
  hashPiece(new Uint8Array(127).fill(1)),
  hashPiece(new Uint8Array(1016).fill(0xcc)),
  hashPiece(bytesOfVector({ utf8: 'hello world' })),
]

/** An entry as anyone can write it, with a checksum that is right whatever it says. */
function forgedEntry(root: Uint8Array, offset: bigint, size: bigint): Uint8Array {
  const entry = new Uint8Array(64)
  entry.set(root)
  new DataView(entry.buffer).setBigUint64(32, offset, true)
  new DataView(entry.buffer).setBigUint64(40, size, true)
  const checksum = sha256(entry).slice(0, 16)
  checksum[15] = (checksum[15] ?? 0) & 0x3f
  entry.set(checksum, 48)
  return entry
}

describe('writeIndexEntry', () => {
  test('writes the offsets, sizes and checksums that @web3-storage/data-segment 5.3.0 writes for these pieces', () => {
    const written = placePieces(PIECES, 15).map((segment) => {
      const entry = writeIndexEntry(segment)
      return [segment.paddedOffsetBytes, segment.paddedSizeBytes, base16.baseEncode(entry.subarray(48))]
    })
    expect(written).toEqual([
      [0, 128, 'e63ce5f66484157a04d33fc640c99813'],
      [1024, 1024, '8a3db914459108b354399d36b262b02c'],
      [2048, 128, '23d9dd38026aefca48ebc35b16c0a304'],
    ])
  })

  test('keeps the top two bits of both halves zero', () => {
    fc.assert(
      fc.property(fc.nat({ max: 1000 }), (position) => {
        const entry = writeIndexEntry({ root: ROOT, paddedOffsetBytes: 128 * position, paddedSizeBytes: 128 })
        expect(entry[31]).toBeLessThan(0x40)
        expect(entry[63]).toBeLessThan(0x40)
      }),
    )
  })

  test('refuses a root that is no node', () => {
    const segment = { paddedOffsetBytes: 0, paddedSizeBytes: 128 }
    expect(() => writeIndexEntry({ root: new Uint8Array(32).fill(0x40), ...segment })).toThrow(TypeError)
    expect(() => writeIndexEntry({ root: new Uint8Array(31), ...segment })).toThrow(TypeError)
  })
})

describe('readIndexEntry', () => {
  const segment: Segment = { root: ROOT, paddedOffsetBytes: 2048, paddedSizeBytes: 1024 }
  const entry = writeIndexEntry(segment)

  test('reads what was written, also from the middle of other bytes', () => {
    expect(readIndexEntry(entry, 15)).toEqual(segment)
    const around = new Uint8Array(80)
    around.set(entry, 9)
    expect(readIndexEntry(around.subarray(9, 73), 15)).toEqual(segment)
  })

  test('refuses an entry with any bit changed', () => {
    for (let bit = 0; bit < 512; bit += 1) {
      const changed = entry.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))
      expect(readIndexEntry(changed, 15)).toBeUndefined()
    }
  })

  test.each([
    ['a size of zero', 0n, 0n],
    ['a size below 128', 0n, 64n],
    ['a size that is no power of two', 0n, 384n],
    ['an offset between multiples of the size', 128n, 256n],
    ['an end inside the index', BigInt(indexOffsetBytes(15)), 128n],
    ['an offset behind the aggregate', 2n ** 40n, 128n],
    ['an offset beyond exact numbers', 2n ** 53n + 1n, 128n],
    ['an offset that wraps around', 2n ** 64n - 128n, 128n],
    ['a size beyond exact numbers', 0n, 2n ** 63n],
  ])('refuses %s, whatever its checksum', (_, offset, size) => {
    expect(readIndexEntry(forgedEntry(ROOT, offset, size), 15)).toBeUndefined()
  })

  test('refuses a root that is no node, whatever its checksum', () => {
    expect(readIndexEntry(forgedEntry(ROOT, 0n, 128n), 15)).toBeDefined()
    expect(readIndexEntry(forgedEntry(new Uint8Array(32).fill(0x40), 0n, 128n), 15)).toBeUndefined()
  })

  test('refuses other lengths', () => {
    for (const length of [0, 63, 65]) expect(readIndexEntry(new Uint8Array(length), 15)).toBeUndefined()
  })
})

describe('readIndex', () => {
  const segments = placePieces(PIECES, 15)

  test('reads every segment with its entry number, and unused entries not at all', () => {
    const index = writeIndex(segments, 15)
    expect(index.length).toBe(64 * indexEntryCount(15))
    expect(readIndex(index, 15)).toEqual(segments.map((segment, entryNumber) => ({ entryNumber, segment })))
  })

  test('passes over entries that are damaged', () => {
    const index = writeIndex(segments, 15)
    index[64 + 3] = (index[64 + 3] ?? 0) ^ 1
    expect(readIndex(index, 15).map(({ entryNumber }) => entryNumber)).toEqual([0, 2])
  })

  test('is not written for more segments than it has entries', () => {
    expect(() => writeIndex([...segments, ...segments], 4)).toThrow(TypeError)
  })
})
