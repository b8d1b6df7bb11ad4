/** Uploads of `application/vnd.ipld.car`: a DAG under its root, block by block. What is refused is in car-refusals.test.ts. */
import * as dagJson from '@ipld/dag-json'
import { describe, expect, test } from 'vitest'
import { headerOf } from './caller.ts'
import {
  blockOf,
  CAR_TYPE,
  carOf,
  carOfSections,
  cborBlock,
  cborTree,
  expectBlocks,
  rawBlock,
  rawLeaf,
  stageCar,
  uploadCar,
} from './car-files.ts'
import { CODEC, hexOf, legacyOf, rawCidOf } from './content-ids.ts'
import {
  asCidV0,
  type Dag,
  importDirectory,
  importFile,
  namesOf,
  PROFILES,
  type ProfileName,
  pieceCidOf,
  spellingsOf,
} from './network-ids.ts'
import { expectProblem } from './problem.ts'
import { MIB, sampleBytes, useTarget } from './target.ts'

const target = useTarget()
const KIB = 1024

const fileDag = (bytes: Uint8Array, profile: ProfileName = 'unixfs-v0-2015') => importFile(bytes, PROFILES[profile])

describe('a CAR of a UnixFS file', () => {
  test.for([
    ['unixfs-v0-2015', 1],
    ['unixfs-v0-2015', 700_000],
    ['unixfs-v1-2025', 1000],
    ['unixfs-v1-2025', 2 * MIB + 1],
    ['256 KiB, raw leaves, 174 links', 700_000],
    ['1 MiB, raw leaves, 174 links', MIB + 1],
  ] as [ProfileName, number][])(
    '%s, %i bytes: gives the file at /p/, and its blocks',
    async ([profile, size], context) => {
      if (size > 64 * KIB) target.needsOwnServer(context, 'stages big files')
      const user = await target.freshUser(context)
      const bytes = sampleBytes(size)
      const dag = await fileDag(bytes, profile)
      const cid = dag.root.version === 0 ? asCidV0(dag.root) : dag.root.toString()
      const car = await carOf(dag)
      await stageCar(user, cid, car)
      const whole = await user.retrieve(cid)
      expect(whole.status).toBe(200)
      expect(whole.body.equals(bytes)).toBe(true)
      expect(headerOf(whole, 'content-length')).toBe(String(size))
      expect(headerOf(whole, 'content-type')).not.toContain('ipld.car')
      // A digest of the CAR would be one of other bytes than these.
      expect(['', `sha-256=:${Buffer.from(hexOf(bytes), 'hex').toString('base64')}:`]).toContain(
        headerOf(whole, 'repr-digest'),
      )
      const headAnswer = await user.retrieve(cid, { method: 'HEAD' })
      expect([headAnswer.status, headerOf(headAnswer, 'content-length')]).toEqual([200, String(size)])
      const names = spellingsOf(dag.root.toV1().bytes)
      for (const name of profile === 'unixfs-v0-2015' ? [...names, asCidV0(dag.root)] : names) {
        expect((await user.retrieve(name)).body.equals(bytes), name).toBe(true)
      }
      await expectBlocks(user, dag.blocks)
      for (const name of [hexOf(car), rawCidOf(car).base32, pieceCidOf(car)]) {
        expect((await user.retrieve(name)).body.equals(car), name).toBe(true)
      }
      expect((await user.usage()).today).toMatchObject({ bytes: car.length, files: 1, reservedBytes: 0 })
    },
  )

  test('ranges of it are exact, also across its blocks', async (context) => {
    target.needsOwnServer(context, 'stages a big file')
    const size = 700_001
    const bytes = sampleBytes(size)
    const dag = await fileDag(bytes)
    const cid = asCidV0(dag.root)
    const user = await target.freshUser(context)
    await stageCar(user, cid, await carOf(dag))
    const [leaf, last] = [256 * KIB, size - 1]
    for (const [range, from, to] of [
      ['bytes=0-0', 0, 1],
      [`bytes=${leaf - 1}-${leaf}`, leaf - 1, leaf + 1],
      [`bytes=${leaf}-${2 * leaf - 1}`, leaf, 2 * leaf],
      [`bytes=${leaf - 5}-${2 * leaf + 5}`, leaf - 5, 2 * leaf + 6],
      [`bytes=${last}-`, last, size],
      ['bytes=-10', size - 10, size],
      ['bytes=0-9999999', 0, size],
    ] as const) {
      const answer = await user.retrieve(cid, { headers: { Range: range } })
      expect(answer.status, range).toBe(206)
      expect(headerOf(answer, 'content-range')).toBe(`bytes ${from}-${to - 1}/${size}`)
      expect(answer.body.equals(bytes.subarray(from, to)), range).toBe(true)
    }
    // Inside the CAR, but past the end of the file.
    const outside = await user.retrieve(cid, { headers: { Range: `bytes=${size}-` } })
    expectProblem(outside, 416, 'range_not_satisfiable')
    expect(headerOf(outside, 'content-range')).toBe(`bytes */${size}`)
  })

  test('is read as a CAR by its media type in any case, with parameters', async () => {
    for (const contentType of [
      `${CAR_TYPE}; version=1`,
      'Application/Vnd.IPLD.Car',
      `${CAR_TYPE};version=1;order=dfs;dups=y`,
    ]) {
      const bytes = sampleBytes()
      const dag = await fileDag(bytes)
      const caller = target.anonymous()
      const answer = await uploadCar(caller, asCidV0(dag.root), await carOf(dag), contentType)
      expect(answer.status, contentType).toBe(200)
      expect((await caller.retrieve(asCidV0(dag.root))).body.equals(bytes)).toBe(true)
    }
  })

  test('is taken under the CIDv1 of a root of version 0, too', async () => {
    const bytes = sampleBytes()
    const dag = await fileDag(bytes)
    const caller = target.anonymous()
    await stageCar(caller, dag.root.toV1().toString(), await carOf(dag))
    for (const name of [asCidV0(dag.root), dag.root.toV1().toString()]) {
      expect((await caller.retrieve(name)).body.equals(bytes)).toBe(true)
    }
    await expectBlocks(caller, dag.blocks)
  })

  test('is not read as a CAR under another media type', async (context) => {
    const user = await target.freshUser(context)
    const dag = await fileDag(sampleBytes())
    const answer = await uploadCar(user, asCidV0(dag.root), await carOf(dag), 'application/octet-stream')
    expectProblem(answer, 422, 'cid_mismatch')
    expect((await user.usage()).today).toMatchObject({ bytes: 0, files: 0, reservedBytes: 0 })
  })
})

describe('a CAR of another DAG', () => {
  const directory = () =>
    importDirectory({ 'a.txt': sampleBytes(10), 'sub/b.bin': sampleBytes(300) }, { profile: 'unixfs-v1-2025' })

  test.for([
    ['a directory', directory],
    [
      'a directory of many shards',
      () => {
        const names = Array.from({ length: 300 }, (_, at) => [`file ${at}`, sampleBytes(1 + (at % 5))])
        return importDirectory(Object.fromEntries(names), {
          ...PROFILES['unixfs-v1-2025'],
          shardSplitThresholdBytes: 100,
        })
      },
    ],
    ['a dag-cbor tree', async () => cborTree()],
    ['one dag-cbor block', async () => ({ root: cborBlock(1).cid, blocks: [cborBlock(1)] })],
    [
      'a dag-json root by blake2b-256',
      async () => {
        const leaf = rawLeaf()
        const root = blockOf(CODEC.dagJson, 'blake2b256', dagJson.encode([leaf.cid]))
        return { root: root.cid, blocks: [leaf, root] }
      },
    ],
  ] as [string, () => Promise<Dag>][])('%s gives the CAR back at /p/, and its blocks', async ([, make]) => {
    const dag = await make()
    const car = await carOf(dag)
    const cid = dag.root.toString()
    const caller = target.anonymous()
    await stageCar(caller, cid, car)
    const whole = await caller.retrieve(cid)
    expect(whole.body.equals(car)).toBe(true)
    expect(headerOf(whole, 'content-type')).toBe(CAR_TYPE)
    const part = await caller.retrieve(cid, { headers: { Range: 'bytes=5-14' } })
    expect([part.status, part.body.equals(car.subarray(5, 15))]).toEqual([206, true])
    await expectBlocks(caller, dag.blocks)
    for (const name of namesOf(car)) expect((await caller.retrieve(name)).body.equals(car), name).toBe(true)
  })

  test('is accepted in any order of its blocks, with duplicates, strangers and more roots', async (context) => {
    const { root, blocks } = cborTree()
    const stranger = rawLeaf()
    for (const car of [
      carOfSections([root], blocks),
      carOfSections([root], [...blocks, ...blocks]),
      carOfSections([root], [...blocks.slice(3), stranger, ...blocks.slice(0, 3)]),
      carOfSections([root, stranger.cid], [stranger, ...blocks]),
    ]) {
      const user = await target.freshUser(context)
      await stageCar(user, root.toString(), car)
      await expectBlocks(user, blocks)
    }
  })
})

describe('what is first staged under a root stays what it gives back', () => {
  const cborCars = () => {
    const { root, blocks } = cborTree()
    const rootBlock = Buffer.from(blocks.find(({ cid }) => cid.equals(root))?.bytes ?? [])
    const [car, other] = [blocks, [...blocks].reverse()].map((order) => carOfSections([root], order)) as [
      Buffer,
      Buffer,
    ]
    return { cid: root.toString(), rootBlock, car, other }
  }

  test('a CAR, when the same DAG comes in another CAR', async () => {
    const { cid, car, other } = cborCars()
    await stageCar(target.anonymous(), cid, car)
    expect([200, 409]).toContain((await uploadCar(target.anonymous(), cid, other)).status)
    expect((await target.anonymous().retrieve(cid)).body.equals(car)).toBe(true)
  })

  test('a CAR, when one that was there before under its own hash is named so later', async () => {
    const { cid, car, other } = cborCars()
    await stageCar(target.anonymous(), hexOf(other), other)
    await stageCar(target.anonymous(), cid, car)
    expect([200, 409]).toContain((await uploadCar(target.anonymous(), cid, other)).status)
    expect((await target.anonymous().retrieve(cid)).body.equals(car)).toBe(true)
  })

  test('a CAR, when the root block comes alone', async () => {
    const { cid, car, rootBlock } = cborCars()
    await stageCar(target.anonymous(), cid, car)
    expect([200, 409]).toContain((await target.anonymous().upload(rootBlock, { cid })).status)
    expect((await target.anonymous().retrieve(cid)).body.equals(car)).toBe(true)
  })

  test('the root block, when the CAR comes', async () => {
    const { cid, car, rootBlock } = cborCars()
    await target.anonymous().stage(rootBlock, { cid })
    expect([200, 409]).toContain((await uploadCar(target.anonymous(), cid, car)).status)
    expect((await target.anonymous().retrieve(cid)).body.equals(rootBlock)).toBe(true)
  })

  test('the type and name of a file in a CAR, when the file comes by itself', async () => {
    const bytes = sampleBytes()
    const dag = await fileDag(bytes)
    const cid = asCidV0(dag.root)
    await stageCar(target.anonymous(), cid, await carOf(dag))
    const first = await target.anonymous().retrieve(cid)
    await target.anonymous().upload(bytes, { cid, contentType: 'text/x-second', filename: 'second.txt' })
    const later = await target.anonymous().retrieve(cid)
    expect(later.body.equals(bytes)).toBe(true)
    for (const name of ['content-type', 'content-disposition'])
      expect(headerOf(later, name)).toBe(headerOf(first, name))
  })
})

describe('a CAR is a file like others', () => {
  test('a private one is its owner’s alone, with all its blocks', async (context) => {
    const user = await target.freshUser(context)
    const dag = await fileDag(sampleBytes())
    const cid = asCidV0(dag.root)
    const headers = { 'X-Visibility': 'private' }
    const answer = await user.upload(await carOf(dag), { cid, contentType: CAR_TYPE, headers })
    expect(answer.status, answer.body.toString()).toBe(200)
    expect((await user.retrieve(cid)).status).toBe(200)
    expect((await target.anonymous().retrieve(cid)).status).toBeGreaterThanOrEqual(400)
    for (const block of dag.blocks) expect((await rawBlock(target.anonymous(), block.cid)).status).toBe(404)
  })

  test('deleted under its root, it is gone with all its blocks', async (context) => {
    const user = await target.freshUser(context)
    const dag = await importDirectory({ 'a.txt': sampleBytes() }, PROFILES['unixfs-v1-2025'])
    const cid = dag.root.toString()
    await stageCar(user, cid, await carOf(dag))
    expect((await user.files()).files.map((file) => file.cid)).toEqual([cid])
    expect((await user.request('DELETE', `/api/files/${cid}`)).status).toBeLessThan(300)
    expectProblem(await user.retrieve(cid), 410, 'gone')
    for (const block of dag.blocks) expect([404, 410]).toContain((await rawBlock(user, block.cid)).status)
  })
})

describe('bytes that have the id themselves win over the CAR reading', () => {
  test.for([
    ['hex', hexOf],
    ['legacy', legacyOf],
    ['CIDv1 raw', (car: Buffer) => rawCidOf(car).base32],
    ['piece CID', pieceCidOf],
    ['CIDv0', async (car: Buffer) => asCidV0((await fileDag(car)).root)],
  ] as [string, (car: Buffer) => string | Promise<string>][])('%s of the CAR', async ([, idOf]) => {
    const car = await carOf(await fileDag(sampleBytes()))
    const cid = await idOf(car)
    const caller = target.anonymous()
    await stageCar(caller, cid, car)
    const answer = await caller.retrieve(cid)
    expect(answer.body.equals(car)).toBe(true)
    expect(headerOf(answer, 'content-type')).toBe(CAR_TYPE)
  })

  test('the same CAR under its root is the same file, and adds the root as a name', async (context) => {
    const bytes = sampleBytes()
    const dag = await fileDag(bytes)
    const car = await carOf(dag)
    const user = await target.freshUser(context)
    const { dealId } = await stageCar(user, hexOf(car), car)
    expect((await user.retrieve(asCidV0(dag.root))).status).toBe(404)
    expect((await stageCar(user, asCidV0(dag.root), car)).dealId).toBe(dealId)
    expect((await user.usage()).today).toMatchObject({ bytes: car.length, files: 1 })
    expect((await user.retrieve(asCidV0(dag.root))).body.equals(bytes)).toBe(true)
    expect((await user.retrieve(hexOf(car))).body.equals(car)).toBe(true)
    await expectBlocks(user, dag.blocks)
  })

  test('other bytes under a name of the CAR are refused in the form of that name', async (context) => {
    const user = await target.freshUser(context)
    const [car, other] = [await carOf(cborTree()), await carOf(cborTree())]
    const problem = expectProblem(await uploadCar(user, hexOf(car), other), 422, 'cid_mismatch')
    expect(problem).toMatchObject({ expected: hexOf(car), actual: hexOf(other) })
  })
})
