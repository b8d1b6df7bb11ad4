/** CARs that are not what they say, or not whole: refused, with nothing kept and nothing charged. */
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { describe, expect, type TestContext, test } from 'vitest'
import {
  blockOf,
  carHeader,
  carOf,
  carOfSections,
  carSection,
  cborBlock,
  cborTree,
  rawBlock,
  rawLeaf,
  stageCar,
  uploadCar,
} from './car-files.ts'
import { CODEC, HASH, hexOf, identityCidOf } from './content-ids.ts'
import { type Dag, importFile } from './network-ids.ts'
import { expectProblem } from './problem.ts'
import { MIB, sampleBytes, useTarget } from './target.ts'

const target = useTarget()

describe('a CAR that is refused keeps and charges nothing', () => {
  type Refusal = { readonly car: Buffer; readonly cid?: string }
  /** What `spoil` makes of the CAR of a file of three leaves, and the answer to it. */
  async function refused(context: TestContext, spoil: (dag: Dag, car: Buffer) => Refusal | Promise<Refusal>) {
    const dag = await importFile(sampleBytes(700), { profile: 'unixfs-v1-2025', chunker: cutAt(256) })
    const { car, cid = dag.root.toString() } = await spoil(dag, await carOf(dag))
    const user = await target.freshUser(context)
    const answer = await uploadCar(user, cid, car)
    expect((await user.usage()).today).toMatchObject({ bytes: 0, files: 0, reservedBytes: 0 })
    for (const name of [cid, dag.root.toString(), hexOf(car)]) expect((await user.retrieve(name)).status).toBe(404)
    for (const { cid: block } of dag.blocks) expect((await rawBlock(user, block)).status).toBe(404)
    return { answer, dag, cid }
  }
  const cutAt = (sizeBytes: number) =>
    async function* (source: AsyncIterable<Uint8Array>) {
      for await (const bytes of source) {
        for (let from = 0; from < bytes.length; from += sizeBytes) yield bytes.subarray(from, from + sizeBytes)
      }
    }
  const at = <Item>(items: readonly Item[], index: number): Item => {
    const item = items.at(index)
    if (item === undefined) throw new TypeError('no such item')
    return item
  }
  const flipped = (bytes: Uint8Array, place: number, mask = 1): Buffer => {
    const copy = Buffer.from(bytes)
    copy.writeUInt8(copy.readUInt8(place) ^ mask, place)
    return copy
  }

  test('a flipped bit in a block: names the block, expected and actual', async (context) => {
    let wrong: Uint8Array = Buffer.alloc(0)
    const { answer, dag } = await refused(context, ({ blocks }, car) => {
      const place = car.indexOf(at(blocks, 1).bytes)
      wrong = flipped(at(blocks, 1).bytes, 40)
      return { car: flipped(car, place + 40) }
    })
    const actual = blockOf(CODEC.raw, 'sha256', wrong).cid.toString()
    const problem = expectProblem(answer, 422, 'cid_mismatch')
    expect(problem).toMatchObject({ expected: at(dag.blocks, 1).cid.toString(), actual })
  })

  test('a flipped bit in the CID of a block: the same', async (context) => {
    const { answer, dag } = await refused(context, ({ blocks }, car) => ({
      car: flipped(car, car.lastIndexOf(at(blocks, 0).cid.bytes) + 20),
    }))
    const problem = expectProblem(answer, 422, 'cid_mismatch')
    expect(problem).toMatchObject({ actual: at(dag.blocks, 0).cid.toString() })
  })

  test('a flipped bit in a block that nothing links to: the same', async (context) => {
    const stranger = rawLeaf()
    const { answer } = await refused(context, (_, car) => ({
      car: Buffer.concat([car, carSection(stranger.cid, flipped(stranger.bytes, 3))]),
    }))
    expect(expectProblem(answer, 422, 'cid_mismatch')).toMatchObject({ expected: stranger.cid.toString() })
  })

  test('a missing leaf: incomplete_dag, with the root and what is missing', async (context) => {
    const { answer, dag, cid } = await refused(context, ({ root, blocks }) => ({
      car: carOfSections([root], blocks.slice(1)),
    }))
    const missing = [at(dag.blocks, 0).cid.toString()]
    expect(expectProblem(answer, 422, 'incomplete_dag')).toMatchObject({ root: cid, missing })
  })

  test('all leaves missing: incomplete_dag names each', async (context) => {
    const { answer, dag, cid } = await refused(context, ({ root, blocks }) => ({
      car: carOfSections([root], blocks.slice(-1)),
    }))
    const problem = expectProblem(answer, 422, 'incomplete_dag')
    expect(problem.root).toBe(cid)
    expect(problem.missing?.toSorted()).toEqual(
      dag.blocks
        .slice(0, -1)
        .map((block) => block.cid.toString())
        .toSorted(),
    )
  })

  test('a missing block deep in a dag-cbor tree', async (context) => {
    const tree = cborTree()
    const { answer } = await refused(context, () => ({
      cid: tree.root.toString(),
      car: carOfSections(
        [tree.root],
        tree.blocks.filter((_, index) => index !== 2),
      ),
    }))
    const missing = [at(tree.blocks, 2).cid.toString()]
    expect(expectProblem(answer, 422, 'incomplete_dag')).toMatchObject({ root: tree.root.toString(), missing })
  })

  test.for([
    ['without its root block', ({ root, blocks }: Dag) => ({ car: carOfSections([root], blocks.slice(0, -1)) })],
    ['of no blocks', ({ root }: Dag) => ({ car: carOfSections([root], []) })],
    ['of another DAG', async () => ({ car: await carOf(cborTree()) })],
  ] as [string, (dag: Dag) => Refusal | Promise<Refusal>][])('a CAR %s', async ([, spoil], context) => {
    const { answer } = await refused(context, spoil)
    expectProblem(answer, [400, 422], ['invalid_car', 'incomplete_dag'])
  })

  const SHA1 = (bytes: Uint8Array) => CID.createV1(CODEC.raw, createDigest(HASH.sha1, blockHash(bytes).subarray(0, 20)))
  const blockHash = (bytes: Uint8Array) => Buffer.from(hexOf(bytes), 'hex')
  const huge = rawLeaf(2 * MIB + 1)
  test.for([
    ['random bytes', () => sampleBytes(700)],
    ['a CAR of version 2', (_: Dag, car: Buffer) => Buffer.concat([Buffer.from('0aa16776657273696f6e02', 'hex'), car])],
    ['a header without a version', ({ root }: Dag) => carHeader({ roots: [root] })],
    ['a header of version 3', ({ root }: Dag) => carHeader({ version: 3, roots: [root] })],
    ['a header without roots', (_: Dag, car: Buffer) => Buffer.concat([carHeader({ version: 1 }), afterHeader(car)])],
    [
      'roots that are no CIDs',
      (_: Dag, car: Buffer) => Buffer.concat([carHeader({ version: 1, roots: ['x'] }), afterHeader(car)]),
    ],
    ['a header cut short', (_: Dag, car: Buffer) => car.subarray(0, 20)],
    ['one byte too few', (_: Dag, car: Buffer) => car.subarray(0, -1)],
    ['one byte too many', (_: Dag, car: Buffer) => Buffer.concat([car, Buffer.from([0x85])])],
    [
      'a section that claims 2^60 bytes',
      (_: Dag, car: Buffer) => Buffer.concat([car, Buffer.from('80808080808080801001551220', 'hex')]),
    ],
    ['a varint without end', (_: Dag, car: Buffer) => Buffer.concat([car, Buffer.alloc(20, 0xff)])],
    ['a section whose CID is none', (_: Dag, car: Buffer) => Buffer.concat([car, Buffer.from([4, 1, 2, 3, 4])])],
    [
      'a block by a hash that is not checked',
      (_: Dag, car: Buffer) => Buffer.concat([car, carSection(SHA1(car), car)]),
    ],
    ['a block over 2 MiB', (_: Dag, car: Buffer) => Buffer.concat([car, carSection(huge.cid, huge.bytes)])],
  ] as [string, (dag: Dag, car: Buffer) => Buffer][])('%s: invalid_car', async ([name, spoil], context) => {
    if (name.includes('MiB')) target.needsOwnServer(context, 'sends a big file')
    const { answer } = await refused(context, (dag, car) => ({ car: spoil(dag, car) }))
    expectProblem(answer, 400, 'invalid_car')
  })
  const afterHeader = (car: Buffer): Buffer => car.subarray(1 + car.readUInt8(0))

  test('a CAR cut anywhere', async (context) => {
    const dag = await importFile(sampleBytes(300), { profile: 'unixfs-v1-2025', chunker: cutAt(100) })
    const car = await carOf(dag)
    const user = await target.freshUser(context)
    for (let length = 1; length < car.length; length += 1 + (length % 11)) {
      const answer = await uploadCar(user, dag.root.toString(), car.subarray(0, length))
      expectProblem(answer, [400, 422], ['invalid_car', 'incomplete_dag'])
    }
    expect((await user.usage()).today).toMatchObject({ bytes: 0, files: 0, reservedBytes: 0 })
    expect((await user.retrieve(dag.root.toString())).status).toBe(404)
    await stageCar(user, dag.root.toString(), car)
  })

  test('a CAR with any byte changed: refused, or still the DAG whole', async (context) => {
    const bytes = sampleBytes(300)
    const dag = await importFile(bytes, { profile: 'unixfs-v1-2025', chunker: cutAt(100) })
    const car = await carOf(dag)
    const firstBlock = 1 + car.readUInt8(0)
    for (let place = 0; place < car.length; place += 1 + (place % 7)) {
      const user = await target.freshUser(context)
      const answer = await uploadCar(user, dag.root.toString(), flipped(car, place, 1 + (place % 255)))
      if (answer.status === 200) {
        expect(place).toBeLessThan(firstBlock)
        expect((await user.retrieve(dag.root.toString())).body.equals(bytes), `byte ${place}`).toBe(true)
        await user.request('DELETE', `/api/files/${dag.root}`)
      } else {
        expectProblem(answer, [400, 422], ['invalid_car', 'incomplete_dag', 'cid_mismatch'])
        expect((await user.usage()).today, `byte ${place}`).toMatchObject({ bytes: 0, files: 0, reservedBytes: 0 })
      }
    }
  })

  test('an identity CID carries its own block, and lacks nothing', async () => {
    const inline = CID.parse(identityCidOf(sampleBytes(20)).base32)
    const root = cborBlock([inline, rawLeaf().cid])
    const answer = await uploadCar(target.anonymous(), root.cid.toString(), carOfSections([root.cid], [root]))
    const problem = expectProblem(answer, 422, 'incomplete_dag')
    expect(problem.missing).toHaveLength(1)
    expect(problem.missing).not.toContain(inline.toString())
  })
})
