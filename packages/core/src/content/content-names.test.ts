import { createHash } from 'node:crypto'
import { base16 } from 'multiformats/bases/base16'
import { base32 } from 'multiformats/bases/base32'
import { base36 } from 'multiformats/bases/base36'
import { base58btc } from 'multiformats/bases/base58'
import { CID } from 'multiformats/cid'
import { create as createMultihash } from 'multiformats/hashes/digest'
import { describe, expect, test } from 'vitest'
import type { ImportProfileName } from '../dag/dag.ts'
import { parseContentId } from './content-id.ts'
import { aliasesOf, nameLike } from './content-names.ts'
import { digestsOf } from './testing-digests.ts'
import { digestsWanted } from './verify-content.ts'

const sha256Hex = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const parse = (text: string) => parseContentId(text, sha256Hex)

/** "hello world": protocols.md A.2, B.2 and 0.3. */
const HELLO = {
  bytes: new TextEncoder().encode('hello world'),
  hex: 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9',
  legacy: 'bafyxfgspomtju7arjjokll5u7nl7lcij37dpjjyb3uqrd32zyxpzxuq',
  cidV1: 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e',
  cidV0: 'Qmf412jQZiuVUtdgnB36FXFX7xg5V6KEbSJ4dpQuhkLyfD',
  pieceV1: 'baga6ea4seaqo4xahwtvbmhunywt2yhzjebhylq4yei73dmrzu7bky4lnev6ukgq',
  pieceV2: 'bafkzcibcoqbo4xahwtvbmhunywt2yhzjebhylq4yei73dmrzu7bky4lnev6ukgq',
}
/** 1,048,577 zero bytes under unixfs-v1-2025, protocols.md A.2. */
const ZEROS = { bytes: new Uint8Array(1_048_577), cidV1: 'bafybeihd4yzq7n5umhjngdum4r6k2to7egxfkf2jz6thvwzf6djus22cmq' }

const nameOf = (bytes: Uint8Array, like: string) => {
  const id = parse(like)
  return nameLike(id, digestsOf(bytes, digestsWanted(id, bytes.length)))
}

describe('aliasesOf', () => {
  test('names the digest of "hello world" in every form', () => {
    expect(aliasesOf(HELLO.hex)).toEqual({ hex: HELLO.hex, legacy: HELLO.legacy, cidV1: HELLO.cidV1 })
  })

  test('refuses a digest that is not 64 lower-case hex digits', () => {
    for (const text of ['', HELLO.hex.toUpperCase(), HELLO.hex.slice(1), `${HELLO.hex}00`]) {
      expect(() => aliasesOf(text)).toThrow(TypeError)
    }
  })
})

describe('nameLike', () => {
  const other = Uint8Array.of(7)
  const cidOfOther = (codec: number, hash: number, digest = base16.baseDecode(sha256Hex(other))) =>
    CID.createV1(codec, createMultihash(hash, digest))

  test('gives back the id itself for its own bytes, in every form', () => {
    const { bytes, ...names } = HELLO
    for (const text of Object.values(names)) expect(nameOf(bytes, text)).toBe(text)
    expect(nameOf(ZEROS.bytes, ZEROS.cidV1)).toBe(ZEROS.cidV1)
  })

  test.each([
    ['codec raw', 0x55],
    ['codec dag-cbor', 0x71],
  ])('names other bytes in the %s and the multibase of the id, in lower case where that folds', (_title, codec) => {
    const id = CID.createV1(codec, createMultihash(0x12, base16.baseDecode(HELLO.hex)))
    for (const base of [base32, base36, base16]) {
      const expected = base.encode(cidOfOther(codec, 0x12).bytes)
      expect(nameOf(other, base.encode(id.bytes))).toBe(expected)
      expect(nameOf(other, base.encode(id.bytes).toUpperCase())).toBe(expected)
    }
    expect(nameOf(other, base58btc.encode(id.bytes))).toBe(base58btc.encode(cidOfOther(codec, 0x12).bytes))
  })

  test.each([0x1e, 0xb220])('keeps the hash %i of the id', (hash) => {
    const id = CID.createV1(0x55, createMultihash(hash, base16.baseDecode(HELLO.hex)))
    const standIn = (hash === 0x1e ? 'b3' : '2b').repeat(32)
    expect(nameOf(other, id.toString())).toBe(cidOfOther(0x55, hash, base16.baseDecode(standIn)).toString())
  })

  test('names hex and legacy ids in lower case', () => {
    expect(nameOf(other, HELLO.hex.toUpperCase())).toBe(sha256Hex(other))
    expect(nameOf(other, HELLO.legacy.toUpperCase())).toBe(aliasesOf(sha256Hex(other)).legacy)
  })

  test('names an identity CID by the raw CIDv1 and an opaque id by the hex digest', () => {
    expect(nameOf(other, 'bafkqaaa')).toBe(aliasesOf(sha256Hex(other)).cidV1)
    expect(nameOf(other, 'myfile01')).toBe(sha256Hex(other))
  })

  test('names a file like a CIDv0 under unixfs-v0-2015, and like a CIDv1 under unixfs-v1-2025', () => {
    expect(nameOf(HELLO.bytes, 'QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH')).toBe(HELLO.cidV0)
    // A file of one chunk is its own raw leaf there.
    expect(nameOf(HELLO.bytes, ZEROS.cidV1)).toBe(HELLO.cidV1)
    expect(nameOf(ZEROS.bytes, base36.encode(CID.parse(HELLO.cidV0).toV1().bytes))).toBe(
      base36.encode(CID.parse(ZEROS.cidV1).bytes),
    )
  })

  test('names a file under the one profile that was looked for', () => {
    const under = (like: string, bytes: Uint8Array, profile: ImportProfileName) => {
      const id = parse(like)
      return nameLike(id, digestsOf(bytes, digestsWanted(id, bytes.length, { profile })))
    }
    const [root256] = digestsOf(ZEROS.bytes, { profiles: ['raw-256k-174'] }).dags.map(({ root }) => root)
    const asV1 = CID.createV1(0x70, createMultihash(0x12, base16.baseDecode(root256 ?? '')))
    expect(under(ZEROS.cidV1, ZEROS.bytes, 'raw-256k-174')).toBe(asV1.toString())
    expect(under(HELLO.cidV0, ZEROS.bytes, 'raw-256k-174')).toBe(base58btc.encode(asV1.multihash.bytes).slice(1))
    expect(under(HELLO.cidV0, ZEROS.bytes, 'unixfs-v1-2025')).toBe(
      base58btc.encode(CID.parse(ZEROS.cidV1).multihash.bytes).slice(1),
    )
    // One chunk has no root of these profiles but its raw block, which is no CIDv0.
    for (const like of [HELLO.cidV0, ZEROS.cidV1]) {
      expect(under(like, HELLO.bytes, 'unixfs-v1-2025')).toBe(HELLO.cidV1)
    }
  })

  test('names bytes that nobody hashed as a whole by their root and their piece', () => {
    for (const like of [ZEROS.cidV1, HELLO.pieceV1, HELLO.pieceV2]) {
      const id = parse(like)
      const digests = digestsOf(ZEROS.bytes, digestsWanted(id, ZEROS.bytes.length))
      expect(nameLike(id, { ...digests, sha256: undefined })).toBe(nameLike(id, digests))
    }
    expect(() => nameLike(parse(HELLO.hex), { ...digestsOf(HELLO.bytes), sha256: undefined })).toThrow(TypeError)
  })

  test('keeps the version and the multibase of a piece CID', () => {
    const inBase36 = (text: string) => base36.encode(CID.parse(text).bytes)
    expect(nameOf(HELLO.bytes, 'baga6ea4seaqmfldjtozgne6adk7eve2vdxte7vzlivae7nzsbrawobo546zkijq')).toBe(HELLO.pieceV1)
    const v2 = 'bafkzcibcaabmfldjtozgne6adk7eve2vdxte7vzlivae7nzsbrawobo546zkijq'
    expect(nameOf(HELLO.bytes, v2)).toBe(HELLO.pieceV2)
    expect(nameOf(HELLO.bytes, inBase36(v2))).toBe(inBase36(HELLO.pieceV2))
  })

  test('refuses digests that lack what the id is checked by', () => {
    const id = parse(CID.createV1(0x55, createMultihash(0x1e, base16.baseDecode(HELLO.hex))).toString())
    expect(() => nameLike(id, digestsOf(HELLO.bytes))).toThrow(TypeError)
  })
})
