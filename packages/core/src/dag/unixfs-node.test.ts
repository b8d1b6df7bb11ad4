import * as dagPb from '@ipld/dag-pb'
import fc from 'fast-check'
import { UnixFS } from 'ipfs-unixfs'
import { CID, digest } from 'multiformats'
import { base16 } from 'multiformats/bases/base16'
import { describe, expect, test } from 'vitest'
import { type ChildRun, encodeInteriorNode, interiorNodeBytes, type LinkCid, wrapLeaf } from './unixfs-node.ts'

const CODES = { v0: 0x70, 'v1-raw': 0x55, 'v1-dag-pb': 0x70 } as const

function cidFor(kind: LinkCid, sha256Digest: Uint8Array): CID {
  return CID.create(kind === 'v0' ? 0 : 1, CODES[kind], digest.create(0x12, sha256Digest))
}

/** The same node by `@ipld/dag-pb` and `ipfs-unixfs`. */
function encodeByReference(children: readonly ChildRun[], digests: Uint8Array): Uint8Array {
  const each = children.flatMap((run) => Array.from({ length: run.count }, () => run))
  return dagPb.encode({
    Links: each.map(({ cid, dagBytes }, at) => ({
      Hash: cidFor(cid, digests.slice(32 * at, 32 * (at + 1))),
      Name: '',
      Tsize: dagBytes,
    })),
    Data: new UnixFS({ type: 'file', blockSizes: each.map(({ fileBytes }) => BigInt(fileBytes)) }).marshal(),
  })
}

/** Sizes on both sides of every length of a varint; eight children of them stay below 2^53. */
const someSize = fc.oneof(
  fc.integer({ min: 0, max: 2 ** 49 }),
  fc
    .tuple(fc.integer({ min: 1, max: 7 }), fc.integer({ min: -1, max: 1 }))
    .map(([sevens, delta]) => 2 ** (7 * sevens) + delta),
)
const someChildren = fc.array(
  fc.record({
    count: fc.integer({ min: 1, max: 2 }),
    cid: fc.constantFrom<LinkCid>('v0', 'v1-raw', 'v1-dag-pb'),
    fileBytes: someSize,
    dagBytes: fc.oneof(someSize, fc.maxSafeNat()),
  }),
  { minLength: 1, maxLength: 4 },
)
/** `ipfs-unixfs` writes sizes from 2^31 to 2^32 wrong (its varints take their low half as signed). */
function isWrittenWrongByReference(children: readonly ChildRun[]): boolean {
  const total = children.reduce((sum, { count, fileBytes }) => sum + count * fileBytes, 0)
  return [total, ...children.map(({ fileBytes }) => fileBytes)].some((size) => size >= 2 ** 31 && size < 2 ** 32)
}

const manyDigests = fc.uint8Array({ minLength: 8 * 32, maxLength: 8 * 32 })

describe('encodeInteriorNode', () => {
  test('writes what @ipld/dag-pb and ipfs-unixfs write, and is as long as said', () => {
    fc.assert(
      fc.property(someChildren, manyDigests, (children, allDigests) => {
        fc.pre(!isWrittenWrongByReference(children))
        const digests = allDigests.subarray(0, 32 * children.reduce((sum, { count }) => sum + count, 0))
        const block = encodeInteriorNode(children, digests)
        expect(base16.baseEncode(block)).toBe(base16.baseEncode(encodeByReference(children, digests)))
        expect(interiorNodeBytes(children)).toBe(block.length)
      }),
      { numRuns: 1000 },
    )
  })

  test('one child, byte by byte', () => {
    const block = encodeInteriorNode([{ count: 1, cid: 'v1-raw', fileBytes: 300, dagBytes: 300 }], new Uint8Array(32))
    const link = `122b0a2401551220${'00'.repeat(32)}120018ac02`
    expect(base16.baseEncode(block)).toBe(`${link}0a08080218ac0220ac02`)
  })

  test.each([
    [2 ** 31, '8080808008'],
    [2 ** 32 - 1, 'ffffffff0f'],
  ])('one child of %d bytes, byte by byte', (size, varint) => {
    const block = encodeInteriorNode([{ count: 1, cid: 'v1-raw', fileBytes: size, dagBytes: size }], new Uint8Array(32))
    const link = `122e0a2401551220${'00'.repeat(32)}120018${varint}`
    expect(base16.baseEncode(block)).toBe(`${link}0a0e080218${varint}20${varint}`)
  })

  test.each([31, 33, 64])('error: %i bytes of digests for one child', (length) => {
    const child: ChildRun = { count: 1, cid: 'v0', fileBytes: 1, dagBytes: 9 }
    expect(() => encodeInteriorNode([child], new Uint8Array(length))).toThrow(TypeError)
  })

  test.each([-1, 0.5, Number.NaN, 2 ** 53])('error: %d as a size', (size) => {
    const child: ChildRun = { count: 1, cid: 'v0', fileBytes: 1, dagBytes: 1 }
    expect(() => interiorNodeBytes([{ ...child, dagBytes: size }])).toThrow(TypeError)
    expect(() => interiorNodeBytes([{ ...child, fileBytes: size }])).toThrow(TypeError)
  })
})

describe('wrapLeaf', () => {
  test.each([0, 1, 100, 118, 119, 120, 127, 128, 16_370, 16_383, 16_384, 262_144])(
    'stands around %i bytes as @ipld/dag-pb and ipfs-unixfs write it',
    (chunkBytes) => {
      const chunk = new Uint8Array(chunkBytes).fill(0x5a)
      const { prefix, suffix } = wrapLeaf(chunkBytes)
      const reference = dagPb.encode({ Links: [], Data: new UnixFS({ type: 'file', data: chunk }).marshal() })
      expect(Uint8Array.from([...prefix, ...chunk, ...suffix])).toEqual(reference)
    },
  )

  test('the leaf of an empty file has no data field', () => {
    const { prefix, suffix } = wrapLeaf(0)
    expect(base16.baseEncode(prefix) + base16.baseEncode(suffix)).toBe('0a0408021800')
  })

  test.each([-1, 0.5, Number.NaN, 2 ** 53])('error: %d as a length', (length) => {
    expect(() => wrapLeaf(length)).toThrow(TypeError)
  })
})
