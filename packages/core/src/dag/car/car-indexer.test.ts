import { readFileSync } from 'node:fs'
import * as dagCbor from '@ipld/dag-cbor'
import { fixedSize } from 'ipfs-unixfs-importer/chunker'
import { balanced, trickle } from 'ipfs-unixfs-importer/layout'
import { CID } from 'multiformats/cid'
import { describe, expect, test } from 'vitest'
import { readUnixfsNode } from '../unixfs-file.ts'
import { blocksOf } from './car-index.ts'
import type { Block } from './load-block.ts'
import {
  BLAKE2B_256,
  BLAKE3,
  cborBlock,
  cidOf,
  expectBlocks,
  fileBlock,
  fromUtf8,
  goodIndex,
  type ImporterOptions,
  importFiles,
  indexCar,
  inlineCid,
  jsonBlock,
  patternBytes,
  rawBlock,
  utf8,
  writeCar,
} from './testing-cars.ts'

const KIB = 1024
const a = rawBlock(utf8('a'))
const b = rawBlock(utf8('bb'))

const PROFILES: Readonly<Record<string, ImporterOptions>> = {
  'unixfs-v0-2015': { profile: 'unixfs-v0-2015' },
  'unixfs-v1-2025': { profile: 'unixfs-v1-2025' },
  'raw-256k-174': { chunker: fixedSize({ chunkSize: 256 * KIB }), layout: balanced({ maxChildrenPerNode: 174 }) },
  'raw-1m-174': { chunker: fixedSize({ chunkSize: 1024 * KIB }), layout: balanced({ maxChildrenPerNode: 174 }) },
  'small and deep': { chunker: fixedSize({ chunkSize: 1000 }), layout: balanced({ maxChildrenPerNode: 3 }) },
  'small and deep, dag-pb leaves': {
    cidVersion: 0,
    rawLeaves: false,
    chunker: fixedSize({ chunkSize: 1000 }),
    layout: balanced({ maxChildrenPerNode: 3 }),
  },
  'trickle, type Raw': {
    rawLeaves: false,
    leafType: 'raw',
    reduceSingleLeafToSelf: false,
    chunker: fixedSize({ chunkSize: 1000 }),
    layout: trickle({ layerRepeat: 2, maxChildrenPerNode: 3 }),
  },
}

describe('CarIndexer: CARs that are taken', () => {
  test.each(Object.entries(PROFILES))(
    'files under %s, of every shape, in the order of the importer',
    async (_, options) => {
      const sizes = options.chunker === undefined || !('profile' in options) ? [0, 1, 1000, 1001, 30_000] : []
      for (const sizeBytes of [...sizes, 0, 1, 300 * KIB]) {
        const { root, store } = await importFiles([{ content: patternBytes(sizeBytes) }], options)
        const car = await writeCar([root], store.blocks)
        const index = goodIndex(car, root, { lengths: [100, 65_536] })
        expect(index).toMatchObject({ root: 'unixfs-file', fileSizeBytes: sizeBytes })
        expectBlocks(index, car, store.blocks)
      }
    },
  )

  test('a file of several chunks under every import profile', async () => {
    const content = patternBytes(2.5 * 1024 * KIB)
    for (const options of Object.values(PROFILES).slice(0, 4)) {
      const { root, store } = await importFiles([{ content }], options)
      const car = await writeCar([root], store.blocks)
      expect(store.blocks.length).toBeGreaterThan(3)
      const index = goodIndex(car, root, { lengths: new Array(40).fill(65_536) })
      expect(index.fileSizeBytes).toBe(content.length)
      expectBlocks(index, car, store.blocks)
    }
  })

  test('directories, plain and sharded', async () => {
    const files = Array.from({ length: 300 }, (_, number) => ({
      path: `dir/${number}.txt`,
      content: utf8(`${number}`),
    }))
    for (const shardSplitThresholdBytes of [1, 2 ** 20]) {
      const { root, store } = await importFiles(files, { wrapWithDirectory: true, shardSplitThresholdBytes })
      const car = await writeCar([root], store.blocks)
      const index = goodIndex(car, root)
      expect(index).toMatchObject({ root: 'other', fileSizeBytes: undefined })
      expectBlocks(index, car, store.blocks)
    }
  })

  test('dag-cbor and dag-json with links to each other, to raw blocks and to inline ones', async () => {
    const inner = cborBlock({ a: a.cid, inline: inlineCid(0x71, dagCbor.encode([b.cid])) })
    const root = jsonBlock({ inner: inner.cid, again: [inner.cid, a.cid] })
    const blocks = [root, inner, a, b]
    const car = await writeCar([root.cid], blocks)
    expectBlocks(goodIndex(car, root.cid), car, blocks)
    expect(indexCar(await writeCar([root.cid], [root, inner, a]), root.cid)).toEqual({
      fault: 'incomplete',
      missing: [b.cid.toString()],
    })
  })

  test('a single raw block, which is a file', async () => {
    const car = await writeCar([a.cid], [a])
    expect(goodIndex(car, a.cid)).toMatchObject({ root: 'unixfs-file', fileSizeBytes: 1, blockCount: 1 })
  })

  test('the fixture of the gateway conformance suite', () => {
    const car = new Uint8Array(
      readFileSync(new URL('../../../../../vectors/gateway/gateway-raw-block.car', import.meta.url)),
    )
    const root = CID.parse('bafybeie72edlprgtlwwctzljf6gkn2wnlrddqjbkxo3jomh4n7omwblxly')
    const index = goodIndex(car, root)
    expect(index).toMatchObject({ root: 'other', blockCount: 3 })
    const [directory, inner, file] = [...blocksOf(index)].map(({ offsetBytes, sizeBytes }) =>
      car.subarray(offsetBytes, offsetBytes + sizeBytes),
    )
    expect(fromUtf8(file ?? car)).toBe('hello application/vnd.ipld.raw\n')
    expect(readUnixfsNode(0x70, directory ?? car)).toMatchObject({ entries: [{ name: 'dir' }] })
    expect(readUnixfsNode(0x70, inner ?? car)).toMatchObject({ entries: [{ name: 'ascii.txt' }] })
  })

  test('blocks hashed with blake3 and blake2b-256', async () => {
    for (const hash of [BLAKE3, BLAKE2B_256]) {
      const bytes = patternBytes(5000)
      const block = { cid: cidOf(0x55, bytes, { hash }), bytes }
      const car = await writeCar([block.cid], [block])
      expectBlocks(goodIndex(car, block.cid, { lengths: [3, 1000] }), car, [block])
    }
  })

  test('blocks of version 0, asked for by the root of version 1', async () => {
    const { root, store } = await importFiles(
      [{ content: patternBytes(3000) }],
      PROFILES['small and deep, dag-pb leaves'] ?? {},
    )
    expect(root.version).toBe(0)
    const car = await writeCar([root], store.blocks)
    expectBlocks(goodIndex(car, root.toV1()), car, store.blocks)
  })

  test('with no root in the header, with others, and with several', async () => {
    for (const roots of [[], [b.cid], [b.cid, a.cid], [CID.parse('bafkqaaa')]]) {
      expect(goodIndex(await writeCar(roots, [a, b]), a.cid).blockCount).toBe(2)
    }
  })

  test('blocks that are repeated are listed where they come first', async () => {
    const car = await writeCar([a.cid], [a, b, a, b, a])
    expectBlocks(goodIndex(car, a.cid), car, [a, b])
  })

  test('blocks that the root does not lead to are verified and listed', async () => {
    const stray = cborBlock({ missing: rawBlock(utf8('nowhere')).cid })
    const car = await writeCar([a.cid], [stray, a])
    expectBlocks(goodIndex(car, a.cid), car, [stray, a])
  })

  test('sections of identity CIDs are checked and not listed', async () => {
    const inline = { cid: inlineCid(0x55, utf8('inline')), bytes: utf8('inline') }
    const car = await writeCar([a.cid], [inline, a])
    expectBlocks(goodIndex(car, a.cid), car, [a])
  })

  test('one that is empty of bytes, and one of exactly 2 MiB', async () => {
    for (const block of [rawBlock(new Uint8Array()), rawBlock(new Uint8Array(2 ** 21))]) {
      const car = await writeCar([block.cid], [block])
      expect(goodIndex(car, block.cid, { lengths: [70, 1] }).fileSizeBytes).toBe(block.bytes.length)
    }
  })

  test('a DAG in which every level doubles what is below it', async () => {
    let block: Block = a
    const blocks = [block]
    let sizeBytes = 1
    for (; sizeBytes < 2 ** 40; sizeBytes *= 2) {
      block = fileBlock([0, 1].map(() => ({ cid: block.cid, sizeBytes })))
      blocks.push(block)
    }
    const car = await writeCar([block.cid], blocks)
    expect(goodIndex(car, block.cid)).toMatchObject({ fileSizeBytes: sizeBytes, blockCount: 41 })
  })

  test('a chain of ten thousand blocks', async () => {
    let block: Block = cborBlock(null)
    const blocks = [block]
    for (let depth = 0; depth < 10_000; depth += 1) {
      block = cborBlock([depth, block.cid])
      blocks.push(block)
    }
    expect(goodIndex(await writeCar([block.cid], blocks), block.cid).blockCount).toBe(10_001)
  })

  test('memory that is shared between threads', async () => {
    const { root, store } = await importFiles([{ content: patternBytes(5000) }], PROFILES['small and deep'] ?? {})
    const car = await writeCar([root], store.blocks)
    const shared = new Uint8Array(new SharedArrayBuffer(car.length))
    shared.set(car)
    expectBlocks(goodIndex(shared, root), car, store.blocks)
    expectBlocks(goodIndex(shared, root, { lengths: [500, 500] }), car, store.blocks)
  })

  test('the index is plain data, and its arrays own their buffers', async () => {
    const index = goodIndex(await writeCar([a.cid], [a, b]), a.cid)
    expect(structuredClone(index)).toEqual(index)
    for (const array of [index.multihashes, index.multihashEnds, index.offsetBytes, index.sizeBytes]) {
      expect(array.byteLength).toBe(array.buffer.byteLength)
    }
  })
})
