/** Many names, one file: retries under other names, and names that two contents could claim. */
import { describe, expect, test } from 'vitest'
import { headerOf } from './caller.ts'
import { CODEC, hexOf, legacyOf, multibase, rawCidOf } from './content-ids.ts'
import {
  asCidV0,
  BLOCK_CODEC,
  blockCid,
  importFile,
  PROFILES,
  type ProfileName,
  pieceCidOf,
  pieceCids,
} from './network-ids.ts'
import { expectProblem } from './problem.ts'
import type { UploadResult } from './shapes.ts'
import { MIB, sampleBytes, useTarget } from './target.ts'

const target = useTarget()
const KIB = 1024

/** Names that any staging of these bytes makes known: by their sha2-256, and as a piece. */
const knownNamesOf = (bytes: Uint8Array): string[] => [
  hexOf(bytes),
  legacyOf(bytes),
  rawCidOf(bytes).base58,
  pieceCidOf(bytes),
  multibase(pieceCids(bytes).v1).base36,
]

/** Ids of every form that these bytes can be uploaded under, each once. */
async function idsOf(bytes: Uint8Array): Promise<string[]> {
  const { v1, v2 } = pieceCids(bytes)
  const cids = [
    v1,
    v2,
    blockCid(CODEC.raw, 'blake3', bytes),
    blockCid(CODEC.raw, 'blake2b256', bytes),
    blockCid(BLOCK_CODEC.dagCbor, 'sha256', bytes),
    blockCid(BLOCK_CODEC.dagJson, 'blake3', bytes),
    blockCid(BLOCK_CODEC.dagPb, 'sha256', bytes),
  ]
  const dags = await Promise.all(Object.values(PROFILES).map((profile) => importFile(bytes, profile)))
  const roots = dags.map(({ root }) => (root.version === 0 ? asCidV0(root) : root.toString()))
  const upright = [hexOf(bytes), legacyOf(bytes), rawCidOf(bytes).base58, ...cids.map((cid) => multibase(cid).base32)]
  return [...new Set([...upright, ...roots, ...dags.map(({ root }) => root.toV1().toString().toUpperCase())])]
}

describe('a retry under another name of the same bytes', () => {
  // Small bodies and big ones are staged in different ways.
  test.for([100, MIB + 1])('of %i bytes has the same dealId, is free, and adds the name', async (size, context) => {
    if (size > KIB) target.needsOwnServer(context, 'sends a big file many times')
    const bytes = sampleBytes(size)
    const ids = await idsOf(bytes)
    for (const first of ids.slice(0, 12)) {
      const user = await target.freshUser(context)
      const { dealId } = await user.stage(bytes, { cid: first })
      const others = size > KIB ? ids.filter((_, at) => at % 4 === ids.indexOf(first) % 4) : ids
      for (const cid of others) {
        expect(await user.stage(bytes, { cid }), `${cid} after ${first}`).toMatchObject({ dealId, cid, verified: true })
      }
      expect((await user.usage()).today, first).toMatchObject({ bytes: size, files: 1, reservedBytes: 0 })
      expect((await user.files()).files.map((file) => file.cid)).toEqual([first])
      for (const cid of [first, ...others]) expect((await user.retrieve(cid)).body.equals(bytes), cid).toBe(true)
    }
  })

  test('is free when the quota is full, if the name follows from what is known, and still verified', async (context) => {
    target.needsOwnServer(context, 'fills a quota')
    const user = await target.freshUser(context, { quotaMb: 1 })
    const bytes = sampleBytes(MIB)
    const { dealId } = await user.stage(bytes)
    for (const cid of knownNamesOf(bytes)) expect((await user.stage(bytes, { cid })).dealId, cid).toBe(dealId)
    // Whether any other name is one of these bytes shows only when they are there, and the quota is asked before.
    for (const cid of await idsOf(bytes)) {
      const answer = await user.upload(bytes, { cid })
      if (answer.status === 200) expect(answer.json<UploadResult>().dealId, cid).toBe(dealId)
      else expectProblem(answer, 429, 'quota_exceeded')
    }
    const others = sampleBytes(MIB)
    for (const cid of await idsOf(bytes)) {
      expectProblem(await user.upload(others, { cid }), [422, 429], ['cid_mismatch', 'quota_exceeded'])
    }
    expect((await user.usage()).today).toMatchObject({ bytes: MIB, files: 1, reservedBytes: 0 })
  })

  test('a file is found, deleted and gone under every name that was established', async (context) => {
    const user = await target.freshUser(context)
    const bytes = sampleBytes(300)
    const { root } = await importFile(bytes, PROFILES['unixfs-v0-2015'])
    await user.stage(bytes, { cid: asCidV0(root) })
    const names = [asCidV0(root), root.toV1().toString(), pieceCidOf(bytes), hexOf(bytes)]
    for (const name of names) expect((await user.get(`/api/files/${name}`)).status, name).toBe(200)
    expect((await user.request('DELETE', `/api/files/${root.toV1()}`)).status).toBeLessThan(300)
    for (const name of names) expectProblem(await user.retrieve(name), 410, 'gone')
  })
})

describe('names that verification did not establish', () => {
  test.for(['unixfs-v1-2025', '256 KiB, raw leaves, 174 links'] as ProfileName[])(
    'the root under %s of a file staged by its hash is unknown, or right',
    async (profile, context) => {
      target.needsOwnServer(context, 'stages a big file')
      const user = await target.freshUser(context)
      const bytes = sampleBytes(MIB + 1)
      await user.stage(bytes)
      const { root } = await importFile(bytes, PROFILES[profile])
      const answer = await user.retrieve(root.toString())
      if (answer.status === 200) expect(answer.body.equals(bytes)).toBe(true)
      else expectProblem(answer, 404, 'not_found')
    },
  )
})

describe('piece CID v1, which does not say how long the bytes are', () => {
  // 508 bytes fill a tree of four quads; any number of zeros up to the next power of two gives the same root.
  const twoLengths = () => {
    const start = sampleBytes(508)
    const [short, long] = [4, 5].map((zeros) => Buffer.concat([start, Buffer.alloc(zeros)])) as [Buffer, Buffer]
    const v1 = multibase(pieceCids(short).v1).base32
    expect(multibase(pieceCids(long).v1).base32).toBe(v1)
    return { short, long, v1 }
  }

  test('belongs to the length first staged under it: another one conflicts, charged and kept nothing', async (context) => {
    const { short, long, v1 } = twoLengths()
    const [one, two] = [await target.freshUser(context), await target.freshUser(context)]
    await one.stage(short, { cid: v1 })
    for (const user of [one, two]) {
      expect(expectProblem(await user.upload(long, { cid: v1 }), 409, 'cid_conflict')).toMatchObject({ cid: v1 })
    }
    expect((await one.usage()).today).toMatchObject({ bytes: 512, files: 1, reservedBytes: 0 })
    expect((await two.usage()).today).toMatchObject({ bytes: 0, files: 0, reservedBytes: 0 })
    expect((await two.retrieve(v1)).body.equals(short)).toBe(true)
    expect((await two.retrieve(hexOf(long))).status).toBe(404)
    await two.stage(short, { cid: v1 })
  })

  test('is bound by a first staging under any other name', async () => {
    const { short, long, v1 } = twoLengths()
    const caller = target.anonymous()
    await caller.stage(long, { cid: hexOf(long) })
    expect((await caller.retrieve(v1)).body.equals(long)).toBe(true)
    expectProblem(await caller.upload(short, { cid: v1 }), 409, 'cid_conflict')
  })

  test('leaves the other length its own names, and stays what it was', async () => {
    const { short, long, v1 } = twoLengths()
    const caller = target.anonymous()
    await caller.stage(long, { cid: v1 })
    await caller.stage(short, { cid: pieceCidOf(short) })
    expect((await caller.retrieve(v1)).body.equals(long)).toBe(true)
    expect((await caller.retrieve(pieceCidOf(short))).body.equals(short)).toBe(true)
    expect((await caller.retrieve(pieceCidOf(long))).body.equals(long)).toBe(true)
  })

  test('version 2 does say it: bytes of another length are a mismatch', async (context) => {
    const { short, long } = twoLengths()
    const user = await target.freshUser(context)
    for (const [bytes, others] of [
      [short, long],
      [long, short],
    ] as const) {
      const [expected, actual] = [pieceCidOf(bytes), pieceCidOf(others)]
      const problem = expectProblem(await user.upload(others, { cid: expected }), 422, 'cid_mismatch')
      expect(problem).toMatchObject({ expected, actual })
    }
    expect((await user.usage()).today).toMatchObject({ bytes: 0, files: 0, reservedBytes: 0 })
  })
})

describe('a dag-pb CID, which names a file and also the root block of it', () => {
  const rooted = async (size: number) => {
    const bytes = sampleBytes(size)
    const { root, blocks } = await importFile(bytes, PROFILES['unixfs-v0-2015'])
    const block = Buffer.from(blocks.find(({ cid }) => cid.equals(root))?.bytes ?? [])
    expect(asCidV0(root)).toBe(multibase(blockCid(CODEC.dagPb, 'sha256', block).subarray(2)).base58.slice(1))
    return { bytes, cid: asCidV0(root), block }
  }

  test.for([200, 300_000])('is verified for the root block of a file of %i bytes, too', async (size, context) => {
    if (size > KIB) target.needsOwnServer(context, 'stages a big file')
    const { cid, block } = await rooted(size)
    const caller = target.anonymous()
    const result = await caller.stage(block, { cid })
    expect(result).toMatchObject({ cid, verified: true, size: block.length, sha256: hexOf(block) })
    expect((await caller.retrieve(hexOf(block))).body.equals(block)).toBe(true)
    expect((await caller.retrieve(cid)).body.equals(block)).toBe(true)
  })

  test('keeps giving back the file when its root block is staged later', async () => {
    const { bytes, cid, block } = await rooted(200)
    const caller = target.anonymous()
    await caller.stage(bytes, { cid })
    expect([200, 409]).toContain((await caller.upload(block, { cid })).status)
    expect((await caller.retrieve(cid)).body.equals(bytes)).toBe(true)
  })

  test('gives the root block back for a while at most, until the file that it stands for is there', async () => {
    const { bytes, cid, block } = await rooted(200)
    await target.anonymous().stage(block, { cid })
    const standIn = await target.anonymous().retrieve(cid)
    expect(standIn.body.equals(block)).toBe(true)
    expect(headerOf(standIn, 'cache-control')).toBe('public, max-age=300')
    await target.anonymous().stage(bytes, { cid })
    const file = await target
      .anonymous()
      .retrieve(cid, { headers: { 'If-None-Match': headerOf(standIn, 'etag') ?? '' } })
    expect([file.status, file.body.equals(bytes)]).toEqual([200, true])
    expect(headerOf(file, 'cache-control')).toBe('public, max-age=3600')
    expect((await target.anonymous().retrieve(hexOf(block))).body.equals(block)).toBe(true)
  })
})
