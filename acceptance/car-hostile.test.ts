/** CARs made to hurt: small to send, and deep, endless or untruthful to read. Each is answered soon, and the service goes on. */
import * as dagPb from '@ipld/dag-pb'
import type { CID } from 'multiformats/cid'
import { describe, expect, type TestContext, test } from 'vitest'
import { type Answer, headerOf } from './caller.ts'
import { blockOf, carOf, carOfSections, cborBlock, expectBlocks, rawLeaf, uploadCar } from './car-files.ts'
import { CODEC, hexOf } from './content-ids.ts'
import type { Block, Dag } from './network-ids.ts'
import { expectProblem } from './problem.ts'
import { MIB, sampleBytes, useTarget } from './target.ts'

const target = useTarget()

function varint64(value: bigint): number[] {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, value)
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  return [...bytes, Number(rest)]
}

/** A UnixFS file of these block sizes: a type, a file size, and the sizes, each a field of the message. */
const unixfsFile = (blockSizes: readonly bigint[]): Uint8Array =>
  Uint8Array.from([
    ...[0x08, 2, 0x18, ...varint64(blockSizes.reduce((sum, size) => sum + size, 0n))],
    ...blockSizes.flatMap((size) => [0x20, ...varint64(size)]),
  ])

/** A UnixFS file node over these children, which says that they have these sizes. */
function fileNode(children: readonly { readonly cid: CID; readonly sizeBytes: bigint }[]): Block {
  const Links = children.map(({ cid }) => dagPb.createLink('', 0, cid))
  const Data = unixfsFile(children.map(({ sizeBytes }) => sizeBytes))
  return blockOf(CODEC.dagPb, 'sha256', dagPb.encode({ Data, Links }))
}

/** A node over a node over a node. */
function chain(depth: number, leaf: Block, over: (below: Block) => Block): Dag {
  const blocks = [leaf]
  let top = leaf
  for (let level = 0; level < depth; level += 1) {
    top = over(top)
    blocks.push(top)
  }
  return { root: top.cid, blocks }
}

async function upload(context: TestContext, { root, blocks }: Dag): Promise<Answer> {
  target.needsOwnServer(context, 'sends hostile files')
  const user = await target.freshUser(context)
  const answer = await uploadCar(user, root.toString(), await carOf({ root, blocks }))
  if (answer.status !== 200) {
    expect((await user.usage()).today).toMatchObject({ bytes: 0, files: 0, reservedBytes: 0 })
    expect((await user.retrieve(root.toString())).status).toBe(404)
  }
  return answer
}

/** A file that has nothing to do with the attack is taken and given back. */
async function expectService(): Promise<void> {
  const caller = target.anonymous()
  const bytes = sampleBytes()
  await caller.stage(bytes, { cid: hexOf(bytes) })
  expect((await caller.retrieve(hexOf(bytes))).body.equals(bytes)).toBe(true)
}

describe('depth', () => {
  test('a chain of 20,000 dag-cbor blocks is taken, and its blocks are there', async (context) => {
    const dag = chain(20_000, cborBlock('end'), ({ cid }) => cborBlock([cid]))
    const answer = await upload(context, dag)
    expect(answer.status, answer.body.toString()).toBe(200)
    await expectBlocks(
      target.anonymous(),
      [0, 1, 10_000, -1].map((at) => dag.blocks.at(at) ?? rawLeaf()),
    )
    const exported = await target.anonymous().get(`/ipfs/${dag.root}?format=car`)
    expect(exported.status).toBe(200)
    expect(exported.body).toHaveLength(carOfSections([dag.root], dag.blocks).length)
  })

  test('a file under 10,000 nodes of one child each is given back, or refused', async (context) => {
    const leaf = rawLeaf(1000)
    const dag = chain(10_000, leaf, ({ cid }) => fileNode([{ cid, sizeBytes: 1000n }]))
    const answer = await upload(context, dag)
    if (answer.status !== 200) expectProblem(answer, 400, 'invalid_car')
    else expect((await target.anonymous().retrieve(dag.root.toString())).body.equals(leaf.bytes)).toBe(true)
    await expectService()
  })

  test.for([
    ['dag-cbor arrays', CODEC.dagCbor, Buffer.concat([Buffer.alloc(MIB, 0x81), Buffer.from([0xf6])])],
    ['dag-cbor tags', CODEC.dagCbor, Buffer.alloc(MIB, 0xd8)],
    ['dag-json arrays', CODEC.dagJson, Buffer.from('['.repeat(MIB / 2) + ']'.repeat(MIB / 2))],
    ['dag-json objects', CODEC.dagJson, Buffer.from(`${'{"a":'.repeat(MIB / 8)}1${'}'.repeat(MIB / 8)}`)],
    ['dag-pb of zeros', CODEC.dagPb, Buffer.alloc(MIB)],
  ] as [string, number, Buffer][])(
    'one block of nested %s is refused, or taken as a block',
    async ([, codec, bytes], context) => {
      const block = blockOf(codec, 'sha256', bytes)
      const answer = await upload(context, { root: block.cid, blocks: [block] })
      if (answer.status !== 200) expectProblem(answer, 400, 'invalid_car')
      await expectService()
    },
  )
})

describe('size', () => {
  test.for([30, 60, 200])(
    'a file that doubles at each of %i levels is answered soon, and truly',
    async (levels, context) => {
      let sizeBytes = 1000n
      const leaf = rawLeaf(Number(sizeBytes))
      const dag = chain(levels, leaf, ({ cid }) => {
        const node = fileNode([
          { cid, sizeBytes },
          { cid, sizeBytes },
        ])
        sizeBytes *= 2n
        return node
      })
      const answer = await upload(context, dag)
      if (answer.status === 200) {
        const head = await target.anonymous().retrieve(dag.root.toString(), { method: 'HEAD' })
        expect(headerOf(head, 'content-length')).toBe(String(sizeBytes))
        const range = { Range: 'bytes=1073740995-1073741004' }
        const part = await target.anonymous().retrieve(dag.root.toString(), { headers: range })
        expect(part.status).toBe(206)
        const whole = Buffer.concat([leaf.bytes, leaf.bytes])
        const from = 1_073_740_995 % 1000
        expect(part.body.equals(whole.subarray(from, from + 10))).toBe(true)
      } else if (answer !== undefined) {
        expectProblem(answer, 400, 'invalid_car')
      }
      await expectService()
    },
  )

  test.for([
    ['more', 1001n],
    ['less', 999n],
    ['nothing', 0n],
    ['2^53', 2n ** 53n],
    ['2^63', 2n ** 63n],
  ] as const)('a node that says %s than its child has is refused', async ([, sizeBytes], context) => {
    const leaf = rawLeaf(1000)
    const root = fileNode([{ cid: leaf.cid, sizeBytes }])
    expectProblem(await upload(context, { root: root.cid, blocks: [leaf, root] }), 400, 'invalid_car')
  })

  test('a node that announces fewer sizes than it has children is refused', async (context) => {
    const leaf = rawLeaf(1000)
    const Data = unixfsFile([1000n])
    const Links = [dagPb.createLink('', 0, leaf.cid), dagPb.createLink('', 0, leaf.cid)]
    const root = blockOf(CODEC.dagPb, 'sha256', dagPb.encode({ Data, Links }))
    expectProblem(await upload(context, { root: root.cid, blocks: [leaf, root] }), 400, 'invalid_car')
  })

  test('40,000 blocks of one byte, and as many links to one block', async (context) => {
    const leaves = Array.from({ length: 20_000 }, (_, at) => blockOf(CODEC.raw, 'sha256', Buffer.from(`${at}`)))
    const [first] = leaves
    const root = cborBlock({ all: leaves.map(({ cid }) => cid), same: leaves.map(() => first?.cid) })
    const answer = await upload(context, { root: root.cid, blocks: [...leaves, root] })
    expect(answer.status, answer.body.toString()).toBe(200)
    await expectBlocks(target.anonymous(), leaves.slice(-3))
    await expectService()
  })
})
