import fc from 'fast-check'
import { UnixFS } from 'ipfs-unixfs'
import { fixedSize } from 'ipfs-unixfs-importer/chunker'
import { balanced, trickle } from 'ipfs-unixfs-importer/layout'
import { CID } from 'multiformats/cid'
import { describe, expect, test } from 'vitest'
import { linksOf } from '../links.ts'
import { readUnixfsNode } from '../unixfs-file.ts'
import { DagReadError } from './dag-read-error.ts'
import type { GetBlock } from './load-block.ts'
import {
  cborBlock,
  cidOf,
  fileBlock,
  gather,
  goodIndex,
  type ImporterOptions,
  importFiles,
  inlineCid,
  jsonBlock,
  patternBytes,
  pbBlock,
  rawBlock,
  TestStore,
  utf8,
  writeCar,
} from './testing-cars.ts'
import { type DagWalk, spanOf, walkDag } from './walk-dag.ts'

/** The CIDs of a walk, and the fault that ended it. */
async function walked(
  walk: DagWalk & { readonly getBlock: GetBlock },
): Promise<{ readonly cids: string[]; readonly fault: string | undefined }> {
  const cids: string[] = []
  try {
    for await (const { cid, bytes } of walkDag(walk)) {
      expect(bytes).toEqual(await walk.getBlock(cid))
      cids.push(cid.toString())
    }
  } catch (error) {
    if (!(error instanceof DagReadError)) throw error
    return { cids, fault: `${error.fault} ${error.cid}` }
  }
  return { cids, fault: undefined }
}

const cidsOf = async (walk: DagWalk & { readonly getBlock: GetBlock }) => {
  const { cids, fault } = await walked(walk)
  expect(fault).toBeUndefined()
  return cids
}

/** Depth first, by recursion, with repetitions. */
async function everyBlock(root: CID, store: TestStore): Promise<string[]> {
  if (root.multihash.code === 0) return []
  const read = linksOf(root.code, (await store.getBlock(root)) ?? expect.fail(`${root}`))
  const below: string[] = []
  for (const link of 'links' in read ? read.links : []) below.push(...(await everyBlock(link, store)))
  return [root.toString(), ...below]
}

const storeOf = (...blocks: Parameters<TestStore['put']>[0][]) => {
  const store = new TestStore()
  for (const block of blocks) store.put(block)
  return store
}

const LAYOUTS: Readonly<Record<string, ImporterOptions>> = {
  'raw leaves': { chunker: fixedSize({ chunkSize: 100 }), layout: balanced({ maxChildrenPerNode: 3 }) },
  'dag-pb leaves': {
    cidVersion: 0,
    rawLeaves: false,
    chunker: fixedSize({ chunkSize: 100 }),
    layout: balanced({ maxChildrenPerNode: 3 }),
  },
  trickle: {
    rawLeaves: false,
    chunker: fixedSize({ chunkSize: 100 }),
    layout: trickle({ layerRepeat: 2, maxChildrenPerNode: 3 }),
  },
}

describe('walkDag, all of a DAG', () => {
  test.each(Object.entries(LAYOUTS))('gives the blocks of a file depth first: %s', async (_, options) => {
    const { root, store } = await importFiles([{ content: patternBytes(2222) }], options)
    const expected = await everyBlock(root, store)
    expect(await cidsOf({ root, getBlock: store.getBlock })).toEqual(expected)
    expect(await cidsOf({ root, getBlock: store.getBlock, dups: true })).toEqual(expected)
    expect(new Set(expected).size).toBe(store.blocks.length)
  })

  test('gives a block each time it is linked to with dups, else once', async () => {
    const leaf = rawBlock(utf8('leaf'))
    const inner = cborBlock([leaf.cid, leaf.cid])
    const root = jsonBlock([inner.cid, { again: inner.cid }, leaf.cid])
    const store = storeOf(leaf, inner, root)
    const [l, i, r] = [leaf, inner, root].map(({ cid }) => cid.toString())
    expect(await cidsOf({ root: root.cid, getBlock: store.getBlock, dups: true })).toEqual([r, i, l, l, i, l, l, l])
    store.asked.length = 0
    const once = walkDag({ root: root.cid, getBlock: store.getBlock })
    expect((await gather(once)).map(({ cid }) => cid.toString())).toEqual([r, i, l])
    expect(store.asked).toEqual([r, i, l])
  })

  test('takes both versions of a CID for one block', async () => {
    const v0 = pbBlock({ Links: [] }, { version: 0 })
    const root = cborBlock([v0.cid, v0.cid.toV1()])
    const { getBlock } = storeOf(v0, root)
    expect(await cidsOf({ root: root.cid, getBlock })).toEqual([root.cid.toString(), v0.cid.toString()])
  })

  test('walks identity blocks and does not give them', async () => {
    const leaf = rawBlock(utf8('leaf'))
    const root = cborBlock([inlineCid(0x71, cborBlock([leaf.cid]).bytes), inlineCid(0x55, utf8('inline'))])
    const store = storeOf(leaf, root)
    for (const dups of [true, false]) {
      expect(await cidsOf({ root: root.cid, getBlock: store.getBlock, dups })).toEqual([
        root.cid.toString(),
        leaf.cid.toString(),
      ])
    }
    for (const scope of ['block', 'entity', 'all'] as const) {
      const walk = { root: CID.parse('bafkqaaa'), getBlock: store.getBlock, scope }
      expect(await gather(walkDag(walk))).toEqual([])
    }
  })

  test('names the block that is missing, after those before it', async () => {
    const { root, store } = await importFiles([{ content: patternBytes(1000) }], LAYOUTS['raw leaves'] ?? {})
    const all = await everyBlock(root, store)
    for (const { cid } of store.blocks) {
      const place = all.indexOf(cid.toString())
      const rest = storeOf(...store.blocks.filter((block) => block.cid !== cid))
      const result = await walked({ root, getBlock: rest.getBlock })
      expect(result).toEqual({ cids: all.slice(0, place), fault: `missing ${cid}` })
    }
  })

  test('gives no block that it cannot read the links of', async () => {
    const broken = { cid: cidOf(0x71, utf8('?!')), bytes: utf8('?!') }
    const strange = { cid: cidOf(0x85, utf8('?!')), bytes: utf8('?!') }
    const { getBlock } = storeOf(broken, strange)
    expect(await walked({ root: broken.cid, getBlock })).toEqual({ cids: [], fault: `undecodable ${broken.cid}` })
    expect(await walked({ root: strange.cid, getBlock })).toEqual({ cids: [], fault: `unsupported ${strange.cid}` })
  })

  test('goes down a chain of ten thousand blocks', async () => {
    let root = cborBlock(null)
    const store = storeOf(root)
    for (let depth = 0; depth < 10_000; depth += 1) {
      root = cborBlock([root.cid])
      store.put(root)
    }
    let count = 0
    for await (const { bytes } of walkDag({ root: root.cid, getBlock: store.getBlock }))
      count += bytes.length > 0 ? 1 : 0
    expect(count).toBe(10_001)
  })

  test('goes once through a DAG in which every level doubles what is below it', async () => {
    let root = rawBlock(utf8('a'))
    const store = storeOf(root)
    for (let sizeBytes = 1; sizeBytes < 2 ** 50; sizeBytes *= 2) {
      root = fileBlock([0, 1].map(() => ({ cid: root.cid, sizeBytes })))
      store.put(root)
    }
    const walk = { root: root.cid, getBlock: store.getBlock }
    expect(await cidsOf(walk)).toHaveLength(51)
    expect(await cidsOf({ ...walk, scope: 'entity' })).toHaveLength(51)
    // The two ends of the range take two paths down, and what lies between them is one block a level.
    expect(await cidsOf({ ...walk, entityBytes: { from: 1, to: -2 } })).toHaveLength(51)
  })

  test('gives what a CAR is indexed from', async () => {
    const files = Array.from({ length: 40 }, (_, number) => ({ path: `${number}`, content: patternBytes(number * 20) }))
    const { root, store } = await importFiles(files, { ...LAYOUTS['raw leaves'], wrapWithDirectory: true })
    const car = await writeCar([root], await gather(walkDag({ root, getBlock: store.getBlock })))
    expect(goodIndex(car, root).blockCount).toBe(store.blocks.length)
  })
})

describe('walkDag, a block', () => {
  test('gives the root alone, of any codec', async () => {
    const strange = { cid: cidOf(0x85, utf8('?!')), bytes: utf8('?!') }
    const linking = cborBlock([strange.cid])
    const { getBlock } = storeOf(strange, linking)
    for (const { cid } of [strange, linking]) {
      expect(await cidsOf({ root: cid, getBlock, scope: 'block' })).toEqual([cid.toString()])
    }
    const absent = rawBlock(utf8('absent')).cid
    expect(await walked({ root: absent, getBlock, scope: 'block' })).toEqual({ cids: [], fault: `missing ${absent}` })
  })
})

describe('walkDag, an entity', () => {
  test('gives all blocks of a file', async () => {
    const { root, store } = await importFiles([{ content: patternBytes(2222) }], LAYOUTS['dag-pb leaves'] ?? {})
    const walk = { root, getBlock: store.getBlock, scope: 'entity' } as const
    expect(await cidsOf(walk)).toEqual(await everyBlock(root, store))
  })

  test('gives a directory without what it holds, and all shards of one that is sharded', async () => {
    const files = Array.from({ length: 400 }, (_, number) => ({ path: `${number}`, content: utf8(`${number}`) }))
    for (const shardSplitThresholdBytes of [1, 2 ** 20]) {
      const { root, store } = await importFiles(files, { wrapWithDirectory: true, shardSplitThresholdBytes })
      const cids = await cidsOf({ root, getBlock: store.getBlock, scope: 'entity' })
      expect(cids[0]).toBe(root.toString())
      expect(cids).toEqual(
        (await everyBlock(root, store)).filter((cid) => ['hamt', 'directory'].includes(kindOf(CID.parse(cid), store))),
      )
      expect(cids.length > 50).toBe(shardSplitThresholdBytes === 1)
      // A range means nothing for a directory.
      expect(await cidsOf({ root, getBlock: store.getBlock, entityBytes: { from: 0, to: 1 } })).toEqual(cids)
    }
  })

  test('gives the block of what is no UnixFS', async () => {
    const leaf = rawBlock(utf8('leaf'))
    const strange = { cid: cidOf(0x85, utf8('?!')), bytes: utf8('?!') }
    const symlink = pbBlock({ Data: new UnixFS({ type: 'symlink', data: utf8('x') }).marshal(), Links: [] })
    const broken = pbBlock({ Data: new UnixFS({ type: 'file' }).marshal(), Links: [{ Hash: leaf.cid }] })
    const roots = [cborBlock([leaf.cid]), jsonBlock(leaf.cid), strange, symlink, broken, pbBlock({ Links: [] })]
    const { getBlock } = storeOf(leaf, ...roots)
    for (const { cid } of roots) {
      for (const entityBytes of [undefined, { from: 0, to: 5 }]) {
        const walk = { root: cid, getBlock, scope: 'entity', entityBytes } as const
        expect(await cidsOf(walk)).toEqual([cid.toString()])
      }
    }
  })

  test('ends at a part of a file that is not what the node above it says', async () => {
    const leaf = rawBlock(utf8('leaf'))
    const root = fileBlock([{ cid: leaf.cid, sizeBytes: 5 }])
    const { getBlock } = storeOf(leaf, root)
    expect(await walked({ root: root.cid, getBlock, scope: 'entity' })).toEqual({
      cids: [root.cid.toString()],
      fault: `inconsistent ${leaf.cid}`,
    })
  })
})

describe('walkDag, a range of a file', () => {
  const SIZE = 1234

  test('gives the blocks that have bytes of it or lead to them, and no others', async () => {
    for (const options of Object.values(LAYOUTS)) {
      const { root, store } = await importFiles([{ content: patternBytes(SIZE) }], options)
      const places = await placesOf(root, store)
      const position = fc.integer({ min: -2 * SIZE, max: 2 * SIZE })
      await fc.assert(
        fc.asyncProperty(position, fc.option(position, { nil: undefined }), fc.boolean(), async (from, to, dups) => {
          const { start, end } = spanOf({ from, to }, SIZE)
          const needed = places.filter((part, index) => index === 0 || (part.start < end && part.end > start))
          store.asked.length = 0
          const walk = walkDag({ root, getBlock: store.getBlock, entityBytes: { from, to }, dups })
          const given = (await gather(walk)).map(({ cid }) => cid.toString())
          expect(given).toEqual(needed.map(({ cid }) => cid))
          // Nothing else is even looked for: a block outside of the range may be missing.
          expect(store.asked).toEqual(given)
        }),
      )
    }
  })

  test('leaves out inner nodes whose own bytes and children lie outside of it', async () => {
    const leaves = ['one', 'two', 'six'].map((text) => rawBlock(utf8(text)))
    const [one, two, six] = leaves.map(({ cid }) => cid)
    const part = (cid: CID | undefined) => ({ cid: cid ?? expect.fail(), sizeBytes: 3 })
    const first = fileBlock([part(one)], { data: utf8('own') })
    const second = fileBlock([part(two), part(six)])
    const root = fileBlock([first, second].map(({ cid }) => ({ cid, sizeBytes: 6 })))
    const store = storeOf(...leaves, first, second, root)
    const blocksOf = async (from: number, to: number) =>
      cidsOf({ root: root.cid, getBlock: store.getBlock, entityBytes: { from, to } })
    expect(await blocksOf(0, 2)).toEqual([root.cid, first.cid].map(String))
    expect(await blocksOf(2, 3)).toEqual([root.cid, first.cid, one].map(String))
    expect(await blocksOf(5, 6)).toEqual([root.cid, first.cid, one, second.cid, two].map(String))
    expect(await blocksOf(-3, -1)).toEqual([root.cid, second.cid, six].map(String))
  })

  test('goes again through a part that it has been through in part', async () => {
    const leaves = ['one', 'two'].map((text) => rawBlock(utf8(text)))
    const inner = fileBlock(leaves.map(({ cid }) => ({ cid, sizeBytes: 3 })))
    const root = fileBlock([inner, inner].map(({ cid }) => ({ cid, sizeBytes: 6 })))
    const { getBlock } = storeOf(...leaves, inner, root)
    const walk = { root: root.cid, getBlock, entityBytes: { from: 4, to: 7 } }
    const [one, two] = leaves.map(({ cid }) => cid)
    expect(await cidsOf(walk)).toEqual([root.cid, inner.cid, two, one].map(String))
    expect(await cidsOf({ ...walk, dups: true })).toEqual([root.cid, inner.cid, two, inner.cid, one].map(String))
  })
})

describe('spanOf', () => {
  test.each([
    [0, undefined, 0, 1026],
    [0, 0, 0, 1],
    [512, 1023, 512, 1024],
    [512, -256, 512, 771],
    [-5, undefined, 1021, 1026],
    [-9999, undefined, 0, 1026],
    [-9999, -3, 0, 1024],
    [1000, 9999, 1000, 1026],
    [1026, undefined, 0, 0],
    [10, 9, 0, 0],
    [0, -1027, 0, 0],
  ])('of %i:%s in 1026 bytes', (from, to, start, end) => {
    expect(spanOf({ from, to }, 1026)).toEqual({ start, end })
  })

  test('of an empty file is empty', () => {
    expect(spanOf({ from: 0, to: undefined }, 0)).toEqual({ start: 0, end: 0 })
  })
})

function kindOf(cid: CID, store: TestStore): string {
  const block = store.blocks.find((each) => each.cid.equals(cid)) ?? expect.fail()
  return readUnixfsNode(cid.code, block.bytes).kind
}

interface Place {
  readonly cid: string
  readonly start: number
  readonly end: number
}

/** Where in the file each block and all below it lie, depth first. */
async function placesOf(root: CID, store: TestStore, start = 0): Promise<Place[]> {
  const node = readUnixfsNode(root.code, (await store.getBlock(root)) ?? expect.fail())
  if (node.kind !== 'file') return expect.fail()
  const below: Place[] = []
  let at = start + node.data.length
  for (const { cid, sizeBytes } of node.children) {
    below.push(...(await placesOf(cid, store, at)))
    at += sizeBytes
  }
  return [{ cid: root.toString(), start, end: at }, ...below]
}
