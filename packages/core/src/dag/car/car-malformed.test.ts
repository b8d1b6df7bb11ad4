import * as dagCbor from '@ipld/dag-cbor'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { describe, expect, test } from 'vitest'
import { CarIndexer } from './car-indexer.ts'
import type { Block } from './load-block.ts'
import {
  cborBlock,
  cidOf,
  concat,
  frame,
  goodIndex,
  hashes,
  header,
  indexCar,
  inlineCid,
  patternBytes,
  pbBlock,
  rawBlock,
  reasonOf,
  SHA2_256,
  section,
  utf8,
  writeCar,
} from './testing-cars.ts'
import { varintBytes } from './varint.ts'

const a = rawBlock(utf8('a'))
const b = rawBlock(utf8('bb'))

describe('CarIndexer: what is no CAR, or none that is read', () => {
  const good = () => concat([header(), section(a.cid.bytes, a.bytes)])
  const withSection = (bytes: Uint8Array) => concat([good(), bytes])
  const v1 = (...parts: (number | Uint8Array)[]) =>
    Uint8Array.from([1, ...parts.flatMap((part) => (typeof part === 'number' ? varintBytes(part) : [...part]))])
  const digest = (length: number) => new Uint8Array(length).fill(7)
  const at = good().length

  test.each<[string, Uint8Array, string | RegExp]>([
    ['no bytes at all', new Uint8Array(), 'The CAR has no header.'],
    ['an empty header', Uint8Array.of(0), 'The header has a length of zero.'],
    ['a header that is cut off', header().subarray(0, 15), 'The header runs past the end of the CAR.'],
    [
      'a header that is too long',
      frame(new Uint8Array(65_537)),
      'The header announces 65537 bytes; the maximum is 65536.',
    ],
    ['a header that is no dag-cbor', frame(utf8('?!')), 'The header of the CAR does not decode as dag-cbor.'],
    ['a header that is no map', header([1]), 'The header of the CAR has no version.'],
    ['a header without a version', header({ roots: [] }), 'The header of the CAR has no version.'],
    ['version 3', header({ roots: [], version: 3 }), /is neither 1 nor 2\.$/],
    ['roots that are no CIDs', header({ roots: ['a'], version: 1 }), 'The header of the CAR has no list of root CIDs.'],
    ['no roots', header({ version: 1 }), 'The header of the CAR has no list of root CIDs.'],
    ['more in the header', header({ roots: [], version: 1, x: 1 }), /has fields other than version and roots\.$/],
    [
      'a pragma of version 2',
      frame(dagCbor.encode({ version: 2 })),
      /^The CAR has version 2\. Send the CAR of version 1/,
    ],
    ['a section of no length', withSection(Uint8Array.of(0)), `The section at byte ${at} has a length of zero.`],
    ['padding at the end', withSection(new Uint8Array(16)), `The section at byte ${at} has a length of zero.`],
    ['a length that is not minimal', withSection(Uint8Array.of(0x85, 0x00)), /not a minimal varint of 63 bits\.$/],
    ['a length of more than 63 bits', withSection(digest(12).fill(0xff)), /not a minimal varint of 63 bits\.$/],
    [
      'a section that is cut off',
      withSection(section(b.cid.bytes, b.bytes).subarray(0, 38)),
      /runs past the end of the CAR\.$/,
    ],
    ['a length that is cut off', withSection(Uint8Array.of(0xff)), `The CAR ends inside the section at byte ${at}.`],
    [
      'a section too long for a block',
      withSection(frame(new Uint8Array(2 ** 21 + 257))),
      /announces 2097409 bytes; a block has at most 2097152\.$/,
    ],
    [
      'a block above 2 MiB',
      withSection(section(b.cid.bytes, new Uint8Array(2 ** 21 + 1))),
      /has 2097153 bytes; a block has at most 2097152\.$/,
    ],
    [
      'a section without a CID',
      withSection(frame(utf8('no cid'))),
      `There is no CID of version 0 or 1 at byte ${at + 1}.`,
    ],
    [
      'a CID of version 2',
      withSection(frame(Uint8Array.of(2, 0x55, 0))),
      /^There is no CID of version 0 or 1 at byte \d+\.$/,
    ],
    [
      'a CID that is cut off',
      withSection(frame(a.cid.bytes.subarray(0, 35))),
      /^There is no CID of version 0 or 1 at byte \d+\.$/,
    ],
    [
      'a CID with a varint that is not minimal',
      withSection(section(v1(Uint8Array.of(0xd5, 0), 0x12, 32, digest(32)), b.bytes)),
      /^There is no CID of version 0 or 1 at byte \d+\.$/,
    ],
    [
      'a hash that is not checked',
      withSection(section(v1(0x55, 0x13, 64, digest(64)), b.bytes)),
      /has the hash 0x13, which is not supported\.$/,
    ],
    [
      'a digest that is cut short',
      withSection(section(v1(0x55, 0x12, 20, digest(20)), b.bytes)),
      /has a digest of 20 bytes\.$/,
    ],
    [
      'an inline block of more than 128 bytes',
      withSection(section(v1(0x55, 0, 129, digest(129)), digest(129))),
      /has a digest of 129 bytes\.$/,
    ],
    [
      'a codec that is not read',
      withSection(section(cidOf(0x85, b.bytes).bytes, b.bytes)),
      /^The block bagcq\w+ has the unsupported codec 0x85\.$/,
    ],
    [
      'a block that is not of its codec',
      withSection(section(cidOf(0x71, utf8('?!')).bytes, utf8('?!'))),
      /^The block bafyrei\w+ does not decode as the codec of its CID\.$/,
    ],
  ])('refuses %s', (_, car, reason) => {
    const expected = typeof reason === 'string' ? expect(reasonOf(indexCar(car, a.cid))).toBe : undefined
    if (expected === undefined) expect(reasonOf(indexCar(car, a.cid))).toMatch(reason)
    else expect(reasonOf(indexCar(car, a.cid))).toBe(reason)
    expect(reasonOf(indexCar(car, a.cid, { lengths: new Array(car.length < 1000 ? car.length : 0).fill(1) }))).toMatch(
      reason,
    )
  })

  test.each<[string, CID, RegExp]>([
    [
      'a hash that is not checked',
      CID.createV1(0x55, createDigest(0x13, digest(64))),
      /links to bafkrgq\w+, whose hash 0x13 is not supported\.$/,
    ],
    ['a codec that is not read', cidOf(0x85, b.bytes), /whose codec 0x85 is not supported\.$/],
    [
      'a digest that is cut short',
      CID.createV1(0x55, createDigest(SHA2_256, digest(20))),
      /whose digest has 20 bytes\.$/,
    ],
    ['more inline than a CID carries', inlineCid(0x55, digest(129)), /links to a CID whose digest has 129 bytes\.$/],
    [
      'an inline block that is not of its codec',
      inlineCid(0x71, utf8('?!')),
      /does not decode as the codec of its CID\.$/,
    ],
  ])('refuses a link with %s', async (_, link, reason) => {
    const root = cborBlock({ link })
    expect(reasonOf(indexCar(await writeCar([root.cid], [root]), root.cid))).toMatch(reason)
  })

  test('refuses a link of a megabyte of inline bytes at once', async () => {
    const root = pbBlock({ Links: [{ Hash: CID.createV0(createDigest(0x12, patternBytes(2 ** 20))) }] })
    expect(reasonOf(indexCar(await writeCar([root.cid], [root]), root.cid))).toMatch(
      /a CID whose digest has 1048576 bytes\.$/,
    )
  })

  test('refuses more blocks than it is told to read, repeated ones counted', async () => {
    const car = await writeCar([a.cid], [a, b, a])
    expect(goodIndex(car, a.cid, { maxBlocks: 3 }).blockCount).toBe(2)
    expect(reasonOf(indexCar(car, a.cid, { maxBlocks: 2 }))).toBe('The CAR has more than 2 blocks.')
  })

  /** Blocks that have as many links to the same block each, and differ. */
  const blocksOfLinks = (blocks: number, links: number, link: Uint8Array): Block[] =>
    Array.from({ length: blocks }, (_, number) => {
      const bytes = concat([...new Array<Uint8Array>(links).fill(link), Uint8Array.of(0x0a, 1, number)])
      return { cid: cidOf(0x70, bytes), bytes }
    })
  const link = concat([Uint8Array.of(0x12, 38, 0x0a, 36), a.cid.bytes])
  const inlineLink = Uint8Array.of(0x12, 6, 0x0a, 4, 1, 0x55, 0, 0)

  test('refuses more links than it is told to read', async () => {
    const blocks = [...blocksOfLinks(3, 40, link), a]
    const root = blocks[0]?.cid ?? a.cid
    const car = await writeCar([root], blocks)
    expect(goodIndex(car, root, { maxLinks: 120 }).blockCount).toBe(4)
    expect(reasonOf(indexCar(car, root, { maxLinks: 119 }))).toBe('The blocks of the CAR have more than 119 links.')
  })

  test('refuses more than 65,536 inline links', async () => {
    const blocks = blocksOfLinks(2, 40_000, inlineLink)
    const root = blocks[0]?.cid ?? a.cid
    expect(goodIndex(await writeCar([root], blocks.slice(0, 1)), root).blockCount).toBe(1)
    expect(reasonOf(indexCar(await writeCar([root], blocks), root))).toBe(
      'The blocks of the CAR have more than 65536 inline links.',
    )
  })

  /** A list of dag-cbor. */
  const cborList = (count: number, item: string) =>
    Buffer.concat([Buffer.of(0x9a, 0, count >> 16, count >> 8, count), Buffer.from(item.repeat(count), 'hex')])
  const LINKS = 65_536
  const PARTS = 262_143
  test.each<[string, string, number, number, (count: number) => Uint8Array]>([
    ['links', 'dag-pb', 0x70, LINKS, (count) => Buffer.from('12060a0401550000'.repeat(count), 'hex')],
    ['links', 'dag-cbor', 0x71, LINKS, (count) => cborList(count, 'd82a450001550000')],
    ['links', 'dag-json', 0x129, LINKS, (count) => utf8(`[${'{"/":"bafkqaaa"},'.repeat(count).slice(0, -1)}]`)],
    [
      'links',
      'escaped dag-json',
      0x129,
      LINKS,
      (count) => utf8(`[${'{"\\u002f":"bafkqaaa"},'.repeat(count).slice(0, -1)}]`),
    ],
    ['maps', 'dag-cbor', 0x71, PARTS, (count) => cborList(count, 'a0')],
    ['byte strings', 'dag-cbor', 0x71, PARTS, (count) => cborList(count, '40')],
    ['maps', 'dag-json', 0x129, PARTS, (count) => utf8(`[${'{},'.repeat(count).slice(0, -1)}]`)],
  ])('refuses too many %s in one %s block', async (what, _, codec, most, bytesOf) => {
    const blockOf = (bytes: Uint8Array): Block => ({ cid: cidOf(codec, bytes), bytes })
    const [good, bad] = [blockOf(bytesOf(most)), blockOf(bytesOf(most + 1))]
    expect(goodIndex(await writeCar([good.cid], [good]), good.cid).blockCount).toBe(1)
    expect(reasonOf(indexCar(await writeCar([bad.cid], [bad]), bad.cid))).toBe(
      `The block ${bad.cid} has more than ${what === 'links' ? '65536 links' : '262144 maps, lists and byte strings'}.`,
    )
  })

  test('refuses a root whose codec is not read', () => {
    const car = section(cidOf(0x85, b.bytes).bytes, b.bytes)
    expect(reasonOf(indexCar(concat([header(), car]), cidOf(0x85, b.bytes)))).toBe(
      'The codec of the root, 0x85, is not supported.',
    )
  })

  test('refuses calls after the end', () => {
    const indexer = new CarIndexer({ root: { codec: 0x55, multihash: a.cid.multihash.bytes }, sizeBytes: 0, hashes })
    indexer.finish()
    expect(() => indexer.update(good())).toThrow(TypeError)
    expect(() => indexer.finish()).toThrow(TypeError)
  })
})
