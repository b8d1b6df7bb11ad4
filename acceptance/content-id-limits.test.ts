/** What a content id may not be, and how big what it names may be. */
import { describe, expect, test } from 'vitest'
import { CODEC, cidV1, HASH, hexOf, multibase, multihash, sha256 } from './content-ids.ts'
import { asCidV0, BLOCK_CODEC, type BLOCK_HASH, blockCid, FIL_COMMITMENT_UNSEALED, importFile } from './network-ids.ts'
import { expectProblem } from './problem.ts'
import { exchangeRaw, expectRefused, head } from './raw-http.ts'
import { MIB, sampleBytes, useTarget } from './target.ts'

const target = useTarget()
const MAX_BLOCK_BYTES = 2 * MIB

describe('a CID of one block', () => {
  test.for([
    ['dag-cbor', BLOCK_CODEC.dagCbor, 'sha256'],
    ['dag-json', BLOCK_CODEC.dagJson, 'blake2b256'],
    ['dag-pb', BLOCK_CODEC.dagPb, 'blake3'],
    ['git-raw', BLOCK_CODEC.gitRaw, 'sha256'],
  ] as [string, number, keyof typeof BLOCK_HASH][])(
    'of %s takes no body over 2 MiB, whatever its hash',
    async ([, codec, hash], context) => {
      target.needsOwnServer(context, 'sends big files')
      const user = await target.freshUser(context)
      const bytes = sampleBytes(MAX_BLOCK_BYTES + 1)
      const { base32 } = multibase(blockCid(codec, hash, bytes))
      const problem = expectProblem(await user.upload(bytes, { cid: base32 }), 413, 'too_large')
      expect(problem).toMatchObject({ limit: MAX_BLOCK_BYTES, size: MAX_BLOCK_BYTES + 1 })
      expect((await user.usage()).today).toMatchObject({ bytes: 0, files: 0, reservedBytes: 0 })
      expect((await user.retrieve(hexOf(bytes))).status).toBe(404)
    },
  )

  test('is refused by its declared size, before a byte of the body', async (context) => {
    target.needsOwnServer(context, 'needs a per-file limit over 2 MiB')
    const user = await target.freshUser(context)
    const cid = multibase(blockCid(BLOCK_CODEC.dagCbor, 'sha256', sampleBytes())).base32
    const lines = [`Authorization: Bearer ${user.token}`, 'Content-Type: text/plain', 'Expect: 100-continue']
    const raw = await exchangeRaw(
      target.directUrl,
      head(
        `POST /api/upload?cid=${cid} HTTP/1.1`,
        `Host: ${target.directUrl.host}`,
        `Content-Length: ${MAX_BLOCK_BYTES + 1}`,
        ...lines,
      ),
    )
    expectRefused(raw, [413], ['too_large'])
  })

  test('of dag-pb may be a bigger file, but never a bigger block', async (context) => {
    target.needsOwnServer(context, 'sends a big file')
    const user = await target.freshUser(context)
    const bytes = sampleBytes(MAX_BLOCK_BYTES + 1)
    const cid = multibase(blockCid(CODEC.dagPb, 'sha256', bytes)).base32
    const problem = expectProblem(await user.upload(bytes, { cid }), 422, 'cid_mismatch')
    const { root } = await importFile(bytes, { profile: 'unixfs-v1-2025' })
    expect(problem).toMatchObject({ expected: cid, actual: root.toString() })
    expect((await user.usage()).today).toMatchObject({ bytes: 0, files: 0, reservedBytes: 0 })
  })
})

describe('a file cut by other rules than the known profiles', () => {
  test.for([0, 1] as const)(
    'has a root as CIDv%i that is refused with the one of the profile',
    async (cidVersion, context) => {
      const user = await target.freshUser(context)
      const bytes = sampleBytes(1000)
      // Not reduced to its only leaf: a root with one child, as trickle imports make it.
      const { root } = await importFile(bytes, { cidVersion, rawLeaves: true, reduceSingleLeafToSelf: false })
      const cid = cidVersion === 0 ? asCidV0(root) : root.toString()
      expect(root.code).toBe(CODEC.dagPb)
      const known = await importFile(bytes, { profile: cidVersion === 0 ? 'unixfs-v0-2015' : 'unixfs-v1-2025' })
      const actual = cidVersion === 0 ? asCidV0(known.root) : known.root.toString()
      expect(expectProblem(await user.upload(bytes, { cid }), 422, 'cid_mismatch')).toMatchObject({
        expected: cid,
        actual,
      })
    },
  )
})

describe('real CIDs that name nothing which can be checked here', () => {
  const text = (codec: number, code: number, digest: Uint8Array) =>
    multibase(cidV1(codec, multihash(code, digest))).base32
  const digest = sha256(sampleBytes())

  test.for([
    ['a libp2p key', text(0x72, HASH.sha256, digest), /libp2p-key|0x72\b/],
    ['a sealed Filecoin commitment', text(0xf102, 0xb401, digest), /fil-commitment-sealed|0xf102\b/],
    [
      'a piece codec with sha2-256',
      text(FIL_COMMITMENT_UNSEALED, HASH.sha256, digest),
      /fil-commitment-unsealed|0xf101/,
    ],
    ['a dag-pb block with sha1', text(CODEC.dagPb, HASH.sha1, digest.subarray(0, 20)), /sha-?1\b|0x11\b/],
    ['a dag-cbor block with sha3-256', text(CODEC.dagCbor, HASH.sha3_256, digest), /sha3-?256|0x16\b/],
    ['a dag-json block with keccak-256', text(CODEC.dagJson, HASH.keccak256, digest), /keccak-?256|0x1b\b/],
    ['a blake3 of 20 bytes', text(CODEC.raw, 0x1e, digest.subarray(0, 20)), /blake3|0x1e\b/],
    ['a blake2b-512 cut to 32 bytes', text(CODEC.raw, 0xb240, digest), /blake2b-512|0xb240\b/],
    ['a sha2-512 cut to 32 bytes', text(CODEC.raw, 0x13, digest), /sha2-512|0x13\b/],
    ['a codec and hash that nobody knows', text(0x3f42, 0x3f43, digest), /0x3f42.*0x3f43/],
  ] as const)('%s is refused by name, at upload and at retrieval', async ([, cid, name]) => {
    const caller = target.anonymous()
    for (const answer of [await caller.upload(sampleBytes(), { cid }), await caller.retrieve(cid)]) {
      expect(expectProblem(answer, 400, 'invalid_cid').detail).toMatch(name)
    }
  })

  test.for([
    ['the root ends early', (hash: Buffer) => hash.subarray(0, -1)],
    ['a height over 50', (hash: Buffer) => Buffer.concat([hash.subarray(0, 1), Buffer.from([51]), hash.subarray(2)])],
    [
      'a height under the smallest tree',
      (hash: Buffer) => Buffer.concat([hash.subarray(0, 1), Buffer.from([1]), hash.subarray(2)]),
    ],
    [
      'more padding than the tree holds',
      (hash: Buffer) => Buffer.concat([Buffer.from([0x80, 0x01]), hash.subarray(1)]),
    ],
    [
      'a padding written longer than it needs',
      (hash: Buffer) => Buffer.concat([Buffer.from([0x80, 0x00]), hash.subarray(1)]),
    ],
  ] as const)('a piece CID v2 is refused when %s', async ([, spoil]) => {
    const hash = Buffer.concat([Buffer.from([0, 2]), digest])
    const cid = multibase(cidV1(CODEC.raw, multihash(0x1011, spoil(hash)))).base32
    expectProblem(await target.anonymous().upload(sampleBytes(127), { cid }), 400, 'invalid_cid')
  })
})
