/**
 * Every form of a content id that is checked against the bytes, with ids that the networks' own libraries compute.
 *
 * The forms by sha2-256 in each spelling, opaque ids and ids that are refused are in content-ids.test.ts.
 */
import { describe, expect, test } from 'vitest'
import { type Caller, headerOf } from './caller.ts'
import { CODEC, cidV1, HASH, hexOf, identityCidOf, legacyOf, multibase, multihash, rawCidOf } from './content-ids.ts'
import {
  asCidV0,
  BLOCK_CODEC,
  type BLOCK_HASH,
  blockCid,
  importFile,
  namesOf,
  PROFILES,
  type ProfileName,
  pieceCidOf,
  pieceCids,
  spellingsOf,
} from './network-ids.ts'
import { expectProblem } from './problem.ts'
import { MIB, sampleBytes, useTarget } from './target.ts'

const target = useTarget()
const KIB = 1024
const SMALL = [1, 127, 128]
/** From this size on, a test stages more than a foreign server should be left with. */
const BIG = 64 * KIB

interface Form {
  readonly name: string
  readonly sizes: readonly number[]
  readonly idOf: (bytes: Uint8Array) => string | Promise<string>
  /** Further names that the check of this form establishes. */
  readonly alsoNamed?: (bytes: Uint8Array) => string[] | Promise<string[]>
  /** The id of this form that a refusal says other bytes to have, where that is not `idOf`. */
  readonly actualOf?: (bytes: Uint8Array) => string | Promise<string>
}

function blockForm(name: string, codec: number, hash: keyof typeof BLOCK_HASH, sizes: readonly number[]): Form {
  const cidOf = (bytes: Uint8Array) => blockCid(codec, hash, bytes)
  return {
    name,
    sizes,
    idOf: (bytes) => multibase(cidOf(bytes)).base32,
    alsoNamed: (bytes) => spellingsOf(cidOf(bytes)),
  }
}

const dagRoot = async (bytes: Uint8Array, profile: ProfileName) => (await importFile(bytes, PROFILES[profile])).root

/** A UnixFS file by its root as CIDv1, whatever version the profile prints. */
function fileForm(profile: ProfileName, sizes: readonly number[]): Form {
  return {
    name: `CIDv1 dag-pb of a UnixFS file, ${profile}`,
    sizes,
    idOf: async (bytes) => (await dagRoot(bytes, profile)).toV1().toString(),
    alsoNamed: async (bytes) => {
      const root = await dagRoot(bytes, profile)
      return [asCidV0(root), ...spellingsOf(root.toV1().bytes)]
    },
    actualOf: async (bytes) => (await dagRoot(bytes, 'unixfs-v1-2025')).toString(),
  }
}

const AROUND_256_KIB = [256 * KIB - 1, 256 * KIB, 256 * KIB + 1]
const AROUND_1_MIB = [MIB - 1, MIB, MIB + 1]

const FORMS: readonly Form[] = [
  { name: '64 hex digits', sizes: [...SMALL, 256 * KIB + 1, 4 * MIB], idOf: hexOf },
  { name: 'the legacy id', sizes: [1, 3 * MIB], idOf: legacyOf },
  { name: 'CIDv1 raw, sha2-256', sizes: [...SMALL, 3 * MIB], idOf: (bytes) => rawCidOf(bytes).base32 },
  blockForm('CIDv1 raw, blake3', CODEC.raw, 'blake3', [...SMALL, 1024, 1025, ...AROUND_1_MIB, 4 * MIB]),
  blockForm('CIDv1 raw, blake2b-256', CODEC.raw, 'blake2b256', [...SMALL, ...AROUND_1_MIB, 4 * MIB]),
  {
    name: 'CIDv0 of a UnixFS file',
    sizes: [...SMALL, ...AROUND_256_KIB, ...AROUND_1_MIB, 3 * MIB, 4 * MIB],
    idOf: async (bytes) => asCidV0(await dagRoot(bytes, 'unixfs-v0-2015')),
    alsoNamed: async (bytes) => spellingsOf((await dagRoot(bytes, 'unixfs-v0-2015')).toV1().bytes),
  },
  fileForm('unixfs-v0-2015', [1, ...AROUND_256_KIB, 3 * MIB]),
  fileForm('unixfs-v1-2025', [MIB + 1, 2 * MIB, 2 * MIB + 1, 3 * MIB, 4 * MIB]),
  fileForm('256 KiB, raw leaves, 174 links', [256 * KIB + 1, ...AROUND_1_MIB, 3 * MIB]),
  fileForm('1 MiB, raw leaves, 174 links', [MIB + 1, 3 * MIB]),
  blockForm('a dag-cbor block, sha2-256', BLOCK_CODEC.dagCbor, 'sha256', [...SMALL, MIB + 1, 2 * MIB]),
  blockForm('a dag-json block, blake3', BLOCK_CODEC.dagJson, 'blake3', [...SMALL, 2 * MIB]),
  blockForm('a dag-pb block, blake2b-256', BLOCK_CODEC.dagPb, 'blake2b256', [1, 2 * MIB]),
  blockForm('a git-raw block, sha2-256', BLOCK_CODEC.gitRaw, 'sha256', [1, 2 * MIB]),
  {
    ...blockForm('a dag-pb block, sha2-256', BLOCK_CODEC.dagPb, 'sha256', [...SMALL, 256 * KIB + 1, 2 * MIB]),
    actualOf: async (bytes) => (await dagRoot(bytes, 'unixfs-v1-2025')).toString(),
  },
  {
    name: 'piece CID v2',
    sizes: [...SMALL, 254, 255, 1016, 1017, ...AROUND_1_MIB, 3 * MIB, 4 * MIB],
    idOf: pieceCidOf,
  },
  {
    name: 'piece CID v1',
    sizes: [...SMALL, 254, 255, 1016, 1017, ...AROUND_1_MIB, 3 * MIB, 4 * MIB],
    idOf: (bytes) => multibase(pieceCids(bytes).v1).base32,
  },
  {
    name: 'identity',
    sizes: [1, 43],
    idOf: (bytes) => identityCidOf(bytes).base32,
    alsoNamed: (bytes) => spellingsOf(cidV1(CODEC.raw, multihash(HASH.identity, bytes))),
    actualOf: (bytes) => rawCidOf(bytes).base32,
  },
]

/** All of a file by one of its names: the whole, its head, and a range of it. */
async function expectServed(caller: Caller, cid: string, bytes: Buffer): Promise<void> {
  const whole = await caller.retrieve(cid)
  expect(whole.status, cid).toBe(200)
  expect(whole.body.equals(bytes), cid).toBe(true)
  const head = await caller.retrieve(cid, { method: 'HEAD' })
  expect([head.status, headerOf(head, 'content-length')], cid).toEqual([200, String(bytes.length)])
  await expectRange(caller, cid, bytes)
}

async function expectRange(caller: Caller, cid: string, bytes: Buffer): Promise<void> {
  const from = Math.floor(bytes.length / 2)
  const to = Math.min(bytes.length, from + 100) - 1
  const part = await caller.retrieve(cid, { headers: { Range: `bytes=${from}-${to}` } })
  expect(part.status, cid).toBe(206)
  expect(headerOf(part, 'content-range'), cid).toBe(`bytes ${from}-${to}/${bytes.length}`)
  expect(part.body.equals(bytes.subarray(from, to + 1)), cid).toBe(true)
}

test('the suite computes published ids', async () => {
  const hello = Buffer.from('hello world')
  const files = { [asCidV0(await dagRoot(hello, 'unixfs-v0-2015'))]: 'Qmf412jQZiuVUtdgnB36FXFX7xg5V6KEbSJ4dpQuhkLyfD' }
  const zeros = async (size: number, profile: ProfileName) => String(await dagRoot(new Uint8Array(size), profile))
  files[await zeros(262_145, 'unixfs-v0-2015')] = 'QmbVuw4C4vcmVKqxoWtgDVobvcHrSn51qsmQmyxjk4sB2Q'
  files[await zeros(MIB + 1, 'unixfs-v1-2025')] = 'bafybeihd4yzq7n5umhjngdum4r6k2to7egxfkf2jz6thvwzf6djus22cmq'
  expect(Object.keys(files)).toEqual(Object.values(files))
  // FRC-0069 and go-fil-commp-hashhash: 127 bytes of 0xcc.
  const piece = pieceCids(Buffer.alloc(127, 0xcc))
  expect(multibase(piece.v1).base32).toBe('baga6ea4seaqmfldjtozgne6adk7eve2vdxte7vzlivae7nzsbrawobo546zkijq')
  expect(multibase(piece.v2).base32).toBe('bafkzcibcaabmfldjtozgne6adk7eve2vdxte7vzlivae7nzsbrawobo546zkijq')
})

describe.for(FORMS)('$name', (form) => {
  const { sizes, idOf, alsoNamed = () => [], actualOf = idOf } = form

  test.for(sizes)('%i bytes are verified, and served under every name of them', async (size, context) => {
    if (size >= BIG) target.needsOwnServer(context, 'stages big files')
    const caller = size >= MIB ? await target.freshUser(context) : target.anonymous()
    const bytes = sampleBytes(size)
    const cid = await idOf(bytes)
    const result = await caller.stage(bytes, { cid })
    const pieceCid = pieceCidOf(bytes)
    expect(result).toMatchObject({ cid, size, verified: true, sha256: hexOf(bytes), pieceCid })
    await expectServed(caller, cid, bytes)
    for (const name of [...namesOf(bytes), ...(await alsoNamed(bytes))]) await expectRange(caller, name, bytes)
  })

  const wrongSizes = sizes.length > 2 ? [sizes[0], sizes.at(-2)] : [sizes[0]]
  test.for(wrongSizes as number[])('%i other bytes are refused, and nothing is kept', async (size, context) => {
    if (size >= BIG) target.needsOwnServer(context, 'sends big files')
    const user = await target.freshUser(context)
    const [bytes, others] = [sampleBytes(size), sampleBytes(size)]
    // Of one byte there are only 256.
    if (others.equals(bytes)) others.writeUInt8(others.readUInt8(0) ^ 0xff, 0)
    const cid = await idOf(bytes)
    const actual = await actualOf(others)
    expect(expectProblem(await user.upload(others, { cid }), 422, 'cid_mismatch')).toMatchObject({
      expected: cid,
      actual,
    })
    expect((await user.usage()).today).toMatchObject({ bytes: 0, files: 0, reservedBytes: 0 })
    if (size < 100) return
    for (const name of [cid, actual, hexOf(others)]) expect((await user.retrieve(name)).status, name).toBe(404)
  })
})
