import { createHash } from 'node:crypto'
import { base16 } from 'multiformats/bases/base16'
import { CID } from 'multiformats/cid'
import { create as createMultihash } from 'multiformats/hashes/digest'
import { describe, expect, test } from 'vitest'
import type { CarIndex } from '../dag/dag.ts'
import { LadeError } from '../errors/lade-error.ts'
import type { ContentDigests } from './content-digests.ts'
import { MAX_BLOCK_BYTES, parseContentId } from './content-id.ts'
import { digestsOf } from './testing-digests.ts'
import { checkContent, digestsWanted } from './verify-content.ts'

const sha256Hex = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const parse = (text: string) => parseContentId(text, sha256Hex)
const cidOf = (codec: number, hash: number, hex: string) =>
  CID.createV1(codec, createMultihash(hash, base16.baseDecode(hex))).toString()

const HELLO = new TextEncoder().encode('hello world')
/** The single leaf of "hello world" under unixfs-v0-2015, protocols.md A.2, as a block. */
const HELLO_LEAF = Uint8Array.from([0x0a, 0x11, 8, 2, 0x12, 11, ...HELLO, 0x18, 11])
const HELLO_V0 = 'Qmf412jQZiuVUtdgnB36FXFX7xg5V6KEbSJ4dpQuhkLyfD'
/** 262,145 zero bytes under unixfs-v0-2015, protocols.md A.2. */
const ZEROS = { bytes: new Uint8Array(262_145), cidV0: 'QmbVuw4C4vcmVKqxoWtgDVobvcHrSn51qsmQmyxjk4sB2Q' }

const check = (text: string, bytes: Uint8Array, learned: Partial<ContentDigests> = {}) => {
  const id = parse(text)
  return checkContent(id, { ...digestsOf(bytes, digestsWanted(id, bytes.length)), ...learned })
}
const refusal = (text: string, bytes: Uint8Array, learned: Partial<ContentDigests> = {}): LadeError => {
  try {
    check(text, bytes, learned)
  } catch (error) {
    if (LadeError.is(error)) return error
    throw error
  }
  throw new Error(`${text} was taken`)
}

describe('digestsWanted', () => {
  test('asks for no more than the id needs', () => {
    const nothing = { blake3: false, blake2b256: false, profiles: [], carRoot: undefined }
    const hex = sha256Hex(HELLO)
    for (const text of [hex, 'myfile01', cidOf(0x55, 0x12, hex), cidOf(0x71, 0x12, hex)]) {
      expect(digestsWanted(parse(text), 1e9)).toEqual(nothing)
    }
    expect(digestsWanted(parse(cidOf(0x55, 0x1e, hex)), 1)).toEqual({ ...nothing, blake3: true })
    expect(digestsWanted(parse(cidOf(0x71, 0xb220, hex)), 1)).toEqual({ ...nothing, blake2b256: true })
    expect(digestsWanted(parse(HELLO_V0), 1).profiles).toEqual(['unixfs-v0-2015'])
    expect(new Set(digestsWanted(parse(HELLO_V0), 1e9).profiles)).toEqual(
      new Set(['unixfs-v0-2015', 'unixfs-v1-2025', 'raw-256k-174', 'raw-1m-174']),
    )
  })

  test('tries the one profile that the sender names, for a dag-pb id alone', () => {
    const profile = 'unixfs-v1-2025'
    expect(digestsWanted(parse(HELLO_V0), 1e9, { profile }).profiles).toEqual([profile])
    expect(digestsWanted(parse(HELLO_V0), 1, { profile }).profiles).toEqual([])
    expect(digestsWanted(parse(sha256Hex(HELLO)), 1e9, { profile }).profiles).toEqual([])
  })

  test('looks for the root of a CAR only where the sender says that it is one, and the id can be a root', () => {
    const hex = sha256Hex(HELLO)
    const wanted = (text: string) => digestsWanted(parse(text), 100, { mayBeCar: true }).carRoot
    for (const text of [HELLO_V0, cidOf(0x55, 0x12, hex), cidOf(0x71, 0x1e, hex)]) {
      expect(wanted(text)).toEqual(parse(text).cid)
    }
    for (const text of [hex, 'myfile01', 'bafkqaaa', cidOf(0xf101, 0x1012, `${hex.slice(0, 62)}00`)]) {
      expect(wanted(text)).toBeUndefined()
    }
    expect(digestsWanted(parse(HELLO_V0), 100).carRoot).toBeUndefined()
  })
})

describe('checkContent', () => {
  const hex = sha256Hex(HELLO)
  test.each([
    ['the hex digest', hex, 'bytes'],
    ['the legacy id', 'bafyxfgspomtju7arjjokll5u7nl7lcij37dpjjyb3uqrd32zyxpzxuq', 'bytes'],
    ['a raw CID', cidOf(0x55, 0x12, hex), 'bytes'],
    ['the CID of a block', cidOf(0x71, 0x12, hex), 'block'],
    ['an identity CID', CID.createV1(0x55, createMultihash(0, HELLO)).toString(), 'bytes'],
    ['a piece CID v1', 'baga6ea4seaqo4xahwtvbmhunywt2yhzjebhylq4yei73dmrzu7bky4lnev6ukgq', 'bytes'],
    ['a piece CID v2', 'bafkzcibcoqbo4xahwtvbmhunywt2yhzjebhylq4yei73dmrzu7bky4lnev6ukgq', 'bytes'],
    ['an opaque id', 'myfile01', 'bytes'],
    ['a blake3 CID', cidOf(0x55, 0x1e, 'b3'.repeat(32)), 'bytes'],
    ['a block by blake2b-256', cidOf(0x71, 0xb220, '2b'.repeat(32)), 'block'],
    ['a CIDv0', HELLO_V0, 'file'],
    ['the same root as CIDv1', CID.parse(HELLO_V0).toV1().toString(), 'file'],
  ])('takes bytes under %s', (_title, text, as) => {
    expect(check(text, HELLO)).toMatchObject({ as })
    if (text === 'myfile01') return
    const error = refusal(text, Uint8Array.of(1), { blake3: '00'.repeat(32), blake2b256: '00'.repeat(32) })
    expect(error).toMatchObject({ code: 'cid_mismatch', evidence: { expected: text } })
  })

  test('keeps the blocks of the file under the profile that matched', () => {
    const { as, dag } = check(ZEROS.cidV0, ZEROS.bytes)
    expect(as).toBe('file')
    expect(dag).toMatchObject({ profile: 'unixfs-v0-2015', rootCodec: 'dag-pb' })
    // Two leaves and their root.
    expect(dag?.digests).toHaveLength(3 * 32)
  })

  test('takes the root block itself under the same CID, as a block', () => {
    expect(check(HELLO_V0, HELLO_LEAF)).toEqual({ as: 'block', dag: undefined, car: undefined })
  })

  test('never takes more than a block holds as one, whatever it hashes to', () => {
    const big = new Uint8Array(MAX_BLOCK_BYTES + 1)
    const most = new Uint8Array(MAX_BLOCK_BYTES)
    for (const codec of [0x70, 0x71]) {
      expect(check(cidOf(codec, 0x12, sha256Hex(most)), most).as).toBe('block')
      expect(refusal(cidOf(codec, 0x12, sha256Hex(big)), big).code).toBe('cid_mismatch')
    }
    expect(check(cidOf(0x55, 0x12, sha256Hex(big)), big).as).toBe('bytes')
  })

  test('never takes a digest of one hash for that of another', () => {
    for (const hash of [0x1e, 0xb220]) {
      const error = refusal(cidOf(0x55, hash, hex), HELLO)
      expect(error.code).toBe('cid_mismatch')
    }
    expect(refusal(cidOf(0x70, 0x12, digestsOf(HELLO).pieceRoot), HELLO).code).toBe('cid_mismatch')
  })

  test('holds a piece CID v2 to its length, and a v1 to its root alone', () => {
    const padded = Uint8Array.from([...HELLO, 0])
    const v1 = 'baga6ea4seaqo4xahwtvbmhunywt2yhzjebhylq4yei73dmrzu7bky4lnev6ukgq'
    const v2 = 'bafkzcibcoqbo4xahwtvbmhunywt2yhzjebhylq4yei73dmrzu7bky4lnev6ukgq'
    expect(check(v1, padded).as).toBe('bytes')
    expect(refusal(v2, padded)).toMatchObject({ code: 'cid_mismatch', evidence: { expected: v2 } })
  })

  describe('for a CAR', () => {
    const root = cidOf(0x71, 0x12, 'ab'.repeat(32))
    const index = { root: 'other' } as CarIndex

    test('takes the DAG under the root, unless the bytes have the id themselves', () => {
      expect(check(root, HELLO, { car: index })).toEqual({ as: 'car', dag: undefined, car: index })
      expect(check(cidOf(0x55, 0x12, hex), HELLO, { car: index }).as).toBe('bytes')
    })

    test('names the block that is not what it says', () => {
      const car = { fault: 'mismatch', expected: 'bafyone', actual: 'bafytwo' } as const
      expect(refusal(root, HELLO, { car })).toMatchObject({
        code: 'cid_mismatch',
        evidence: { expected: 'bafyone', actual: 'bafytwo' },
      })
    })

    test('names what is missing', () => {
      const car = { fault: 'incomplete', missing: ['bafyone'] } as const
      expect(refusal(root, HELLO, { car })).toMatchObject({
        code: 'incomplete_dag',
        evidence: { root, missing: ['bafyone'] },
      })
    })

    test('says why it is no CAR', () => {
      const error = refusal(root, HELLO, { car: { fault: 'malformed', reason: 'It ends within a block.' } })
      expect(error).toMatchObject({ code: 'invalid_car', evidence: { reason: 'It ends within a block.' } })
    })
  })
})
