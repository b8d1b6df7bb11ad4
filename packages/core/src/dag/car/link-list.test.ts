import fc from 'fast-check'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { describe, expect, test } from 'vitest'
import { linksOf } from '../links.ts'
import { type LinkList, linkAt, packLinks, readLinks } from './link-list.ts'
import { cborBlock, cidOf, inlineCid, jsonBlock, pbBlock, rawBlock, utf8 } from './testing-cars.ts'

const a = rawBlock(utf8('a')).cid
const b = pbBlock({ Links: [] }, { version: 0 }).cid

const listOf = (codec: number, bytes: Uint8Array): LinkList => {
  const read = readLinks(codec, bytes)
  return 'fault' in read ? expect.fail(read.fault) : read
}

const textsOf = (list: LinkList) => Array.from(list.ends, (_, place) => linkAt(list, place).toString())

describe('readLinks', () => {
  test('gives the links of a block, in order and repeated, in every codec', () => {
    for (const { cid, bytes } of [cborBlock([a, { x: b }, a]), jsonBlock([a, { x: b }, a])]) {
      expect(textsOf(listOf(cid.code, bytes))).toEqual([a, b, a].map(String))
    }
    const { cid, bytes } = pbBlock({ Links: [{ Hash: a }, { Hash: b }] })
    expect(textsOf(listOf(cid.code, bytes))).toEqual([a, b].map(String))
    expect(textsOf(listOf(0x55, utf8('anything')))).toEqual([])
  })

  test('gives the links of inline blocks where these are, and counts theirs', () => {
    const inner = inlineCid(0x71, cborBlock([b, inlineCid(0x55, utf8('x'))]).bytes)
    const { cid, bytes } = cborBlock([a, inlineCid(0x71, cborBlock([inner, a]).bytes), inlineCid(0x55, utf8('y')), b])
    const list = listOf(cid.code, bytes)
    expect(textsOf(list)).toEqual([a, b, a, b].map(String))
    expect(list.linkCount).toBe(4 + 2 + 2)
  })

  test('leaves an inline block that cannot be read to whoever comes to it', () => {
    const broken = inlineCid(0x71, utf8('?!'))
    const strange = inlineCid(0x85, utf8('?!'))
    const { cid, bytes } = cborBlock([a, broken, strange, b])
    expect(textsOf(listOf(cid.code, bytes))).toEqual([a, broken, strange, b].map(String))
  })

  test('says that a block cannot be read', () => {
    expect(readLinks(0x71, utf8('?!'))).toEqual({ fault: 'undecodable' })
    expect(readLinks(0x85, utf8('?!'))).toEqual({ fault: 'unsupported' })
  })

  test('does not open inline blocks that are longer than in CARs, at whatever depth', () => {
    let block = cborBlock([a])
    // Each level holds the one before: opening all of them would take the square of the size.
    for (let level = 0; level < 200; level += 1) block = cborBlock([inlineCid(0x71, block.bytes)])
    const list = listOf(block.cid.code, block.bytes)
    expect(list.linkCount).toBe(1)
    expect(() => linkAt(list, 0)).toThrow(expect.objectContaining({ fault: 'unsupported' }))
  })

  test('gives CIDs of any form back as they were', () => {
    const cid = fc.oneof(
      fc.constant(b),
      fc
        .tuple(
          fc.constantFrom(0x55, 0x70, 0x0129),
          fc.constantFrom(0x12, 0x1e, 0xb220),
          fc.uint8Array({ maxLength: 128 }),
        )
        .map(([codec, hash, digest]) => CID.createV1(codec, createDigest(hash, digest))),
    )
    fc.assert(
      fc.property(fc.array(cid), (cids) => {
        expect(textsOf(packLinks(cids.map(({ bytes }) => bytes)))).toEqual(cids.map(String))
        const { cid, bytes } = cborBlock(cids)
        const read = linksOf(cid.code, bytes)
        expect('links' in read && read.links.map(String)).toEqual(textsOf(listOf(cid.code, bytes)))
      }),
    )
  })
})

test('linkAt refuses a digest that is longer than in CARs', () => {
  const long = CID.createV1(0x55, createDigest(0x12, new Uint8Array(129)))
  expect(() => linkAt(packLinks([cidOf(0x55, utf8('')).bytes, long.bytes]), 1)).toThrow(
    expect.objectContaining({ fault: 'unsupported' }),
  )
})
