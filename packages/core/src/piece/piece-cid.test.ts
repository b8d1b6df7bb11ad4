import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { base16 } from 'multiformats/bases/base16'
import { base32 } from 'multiformats/bases/base32'
import { CID } from 'multiformats/cid'
import { describe, expect, test } from 'vitest'
import { pieceCidV1, pieceCidV1Bytes, pieceCidV2, pieceCidV2Bytes, readPieceCid } from './piece-cid.ts'
import type { PieceVector } from './testing-pieces.ts'
import { zeroCommitment } from './zero-commitments.ts'

const VECTORS: readonly PieceVector[] = JSON.parse(
  readFileSync(new URL('../../../../vectors/piece/commp.json', import.meta.url), 'utf8'),
)
const V1 = { codec: 0xf101, hash: 0x1012 }
const V2 = { codec: 0x55, hash: 0x1011 }
const ROOT = new Uint8Array(32).fill(0x2a)

function codesOf(text: string) {
  const { code, multihash } = CID.parse(text)
  return { codec: code, hash: multihash.code, digest: multihash.digest }
}

function faultOf(digest: Uint8Array, codes: typeof V1 = V2): string {
  const read = readPieceCid({ ...codes, digest })
  if (read === undefined || !('fault' in read)) throw new Error('the digest was read')
  expect(read.fault).toMatch(/^The cid is a piece CID .*[^.]\.$/)
  return read.fault
}

const digestOf = (...parts: (number | Uint8Array)[]) =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'number' ? [part] : [...part])))

/** A varint, `longerBy` bytes longer than it has to be. */
function varint(value: bigint, longerBy = 0): Uint8Array {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  bytes.push(Number(rest) | (longerBy > 0 ? 0x80 : 0))
  for (let left = longerBy; left > 0; left -= 1) bytes.push(left > 1 ? 0x80 : 0)
  return Uint8Array.from(bytes)
}

const someRoot = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => bytes.map((byte, index) => (index === 31 ? byte & 0x3f : byte)))
const someSize = fc.oneof(fc.nat({ max: 5000 }), fc.maxSafeNat())

describe('piece CIDs', () => {
  test.each(VECTORS)('of $name are written and read as in the vectors', (vector) => {
    const root = base16.baseDecode(vector.root)
    expect(pieceCidV1(root)).toBe(vector.pieceCidV1)
    expect(pieceCidV2({ root, rawSizeBytes: vector.rawSize })).toBe(vector.pieceCidV2)
    expect(readPieceCid(codesOf(vector.pieceCidV1))).toEqual({ version: 1, root })
    expect(readPieceCid(codesOf(vector.pieceCidV2))).toEqual({ version: 2, root, rawSizeBytes: vector.rawSize })
  })

  test('of 32 GiB and 64 GiB of padded zeros are those of FRC-0069', () => {
    const zeros = (height: number) => ({ root: zeroCommitment(height), rawSizeBytes: 127 * 2 ** (height - 2) })
    expect(pieceCidV1(zeros(30).root)).toBe('baga6ea4seaqao7s73y24kcutaosvacpdjgfe5pw76ooefnyqw4ynr3d2y6x2mpq')
    expect(pieceCidV2(zeros(30))).toBe('bafkzcibcaapao7s73y24kcutaosvacpdjgfe5pw76ooefnyqw4ynr3d2y6x2mpq')
    expect(pieceCidV1(zeros(31).root)).toBe('baga6ea4seaqomqafu276g53zko4k23xzh4h4uecjwicbmvhsuqi7o4bhthhm4aq')
    expect(pieceCidV2(zeros(31))).toBe('bafkzcibcaap6mqafu276g53zko4k23xzh4h4uecjwicbmvhsuqi7o4bhthhm4aq')
  })

  test('of version 2 are read back as the commitment that they were written from, for every size', () => {
    fc.assert(
      fc.property(someRoot, someSize, (root, rawSizeBytes) => {
        expect(readPieceCid(codesOf(pieceCidV2({ root, rawSizeBytes })))).toEqual({ version: 2, root, rawSizeBytes })
      }),
      { numRuns: 1000 },
    )
  })

  test('are given as bytes for other multibases', () => {
    expect(base32.encode(pieceCidV1Bytes(ROOT))).toBe(pieceCidV1(ROOT))
    const commitment = { root: ROOT, rawSizeBytes: 1017 }
    expect(base16.encode(pieceCidV2Bytes(commitment))).toBe(`f0155912023f70706${'2a'.repeat(32)}`)
  })

  test('are not written for what is no root or no size', () => {
    for (const root of [new Uint8Array(31), new Uint8Array(33), new Uint8Array(32).fill(0x40)]) {
      expect(() => pieceCidV1(root)).toThrow(TypeError)
      expect(() => pieceCidV2({ root, rawSizeBytes: 1 })).toThrow(TypeError)
    }
    for (const rawSizeBytes of [-1, 1.5, 2 ** 53])
      expect(() => pieceCidV2({ root: ROOT, rawSizeBytes })).toThrow(TypeError)
  })
})

describe('readPieceCid', () => {
  test('reads codes as numbers and as bigints', () => {
    expect(readPieceCid({ codec: 0xf101n, hash: 0x1012n, digest: ROOT })).toEqual({ version: 1, root: ROOT })
    expect(readPieceCid({ codec: 0x55n, hash: 0x1011n, digest: digestOf(0, 2, ROOT) })).toMatchObject({ version: 2 })
  })

  test('knows no other pair of codes', () => {
    for (const [codec, hash] of [
      [0x55, 0x12],
      [0x55, 0x1012],
      [0xf101, 0x1011],
      [0xf102, 0x1012],
      [0x70, 0x1011],
    ] as const) {
      expect(readPieceCid({ codec, hash, digest: ROOT })).toBeUndefined()
    }
  })

  test('gives a root of its own', () => {
    const digest = ROOT.slice()
    const read = readPieceCid({ ...V1, digest })
    digest.fill(0)
    expect(read).toEqual({ version: 1, root: ROOT })
  })

  test.each([
    ['31 bytes', new Uint8Array(31)],
    ['33 bytes', new Uint8Array(33)],
    ['no bytes', new Uint8Array(0)],
    ['bit 254 set', digestOf(ROOT.subarray(0, 31), 0x40)],
    ['bit 255 set', digestOf(ROOT.subarray(0, 31), 0x80)],
  ])('refuses a version 1 whose digest has %s', (_, digest) => {
    faultOf(digest, V1)
  })

  test.each([
    ['no bytes', new Uint8Array(0), 'padding is not a number'],
    ['a padding without an end', new Uint8Array(40).fill(0xff), 'padding is not a number'],
    ['a padding of ten bytes', digestOf(varint(0n, 9), 2, ROOT), 'at most nine bytes'],
    ['a padding longer than needed', digestOf(varint(0n, 1), 2, ROOT), 'not a minimal varint'],
    ['a padding much longer than needed', digestOf(varint(200n, 3), 3, ROOT), 'not a minimal varint'],
    ['a root cut short', digestOf(0, 2, ROOT.subarray(1)), '32 bytes after its padding'],
    ['bytes after the root', digestOf(0, 2, ROOT, 0), '34 bytes after its padding'],
    ['height 0', digestOf(0, 0, ROOT), 'height 0'],
    ['height 1', digestOf(0, 1, ROOT), 'height 1'],
    ['height 51', digestOf(0, 51, ROOT), 'height 51'],
    ['height 255', digestOf(0, 255, ROOT), 'height 255'],
    ['a root with its top bit set', digestOf(0, 2, ROOT.subarray(0, 31), 0x80), 'top two bits'],
    ['a root with its second bit set', digestOf(0, 2, ROOT.subarray(0, 31), 0x7f), 'top two bits'],
    ['more padding than the smallest tree holds', digestOf(varint(128n), 2, ROOT), 'more than its tree holds'],
    ['more padding than the tree holds', digestOf(varint(509n), 4, ROOT), 'more than its tree holds'],
    ['nothing but padding in a higher tree', digestOf(varint(254n), 3, ROOT), 'need 2'],
    ['as much padding as bytes', digestOf(varint(127n), 3, ROOT), 'need 2'],
    ['a tree one too high', digestOf(varint(127n * 2n ** 29n), 32, ROOT), 'need 31'],
    ['2^53 bytes', digestOf(varint(127n * 2n ** 47n - 2n ** 53n), 49, ROOT), 'count exactly'],
    ['the largest tree of all', digestOf(0, 50, ROOT), 'count exactly'],
  ])('refuses a version 2 whose digest has %s', (_, digest, reason) => {
    expect(faultOf(digest)).toContain(reason)
  })

  test('reads the largest size that is counted exactly, and the least padding that a height needs', () => {
    const largest = { root: ROOT, rawSizeBytes: Number.MAX_SAFE_INTEGER }
    expect(readPieceCid(codesOf(pieceCidV2(largest)))).toEqual({ version: 2, ...largest })
    expect(readPieceCid({ ...V2, digest: digestOf(126, 3, ROOT) })).toEqual({
      version: 2,
      root: ROOT,
      rawSizeBytes: 128,
    })
    expect(readPieceCid({ ...V2, digest: digestOf(127, 2, ROOT) })).toEqual({ version: 2, root: ROOT, rawSizeBytes: 0 })
  })

  test('reads only the one digest that a commitment has, of all that are near it', () => {
    const nearDigest = fc
      .record({
        padding: fc.oneof(fc.bigInt({ min: 0n, max: 600n }), fc.bigInt({ min: 0n, max: 2n ** 63n - 1n })),
        longerBy: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 3 })),
        height: fc.oneof(fc.integer({ min: 0, max: 6 }), fc.nat({ max: 255 })),
        root: fc.oneof({ weight: 5, arbitrary: someRoot }, fc.uint8Array({ maxLength: 34 })),
      })
      .map(({ padding, longerBy, height, root }) => digestOf(varint(padding, longerBy), height, root))
    let good = 0
    fc.assert(
      fc.property(nearDigest, (digest) => {
        const read = readPieceCid({ ...V2, digest })
        if (read === undefined || 'fault' in read || read.version !== 2) return
        good += 1
        expect(codesOf(pieceCidV2(read)).digest).toEqual(digest)
      }),
      { numRuns: 5000 },
    )
    expect(good).toBeGreaterThan(100)
  })
})
