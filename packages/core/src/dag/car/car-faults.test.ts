import { UnixFS } from 'ipfs-unixfs'
import { fixedSize } from 'ipfs-unixfs-importer/chunker'
import { balanced } from 'ipfs-unixfs-importer/layout'
import { describe, expect, test } from 'vitest'
import { CarIndexer } from './car-indexer.ts'
import type { Block } from './load-block.ts'
import {
  BLAKE3,
  cborBlock,
  cidOf,
  concat,
  expectBlocks,
  fileBlock,
  goodIndex,
  hashes,
  header,
  importFiles,
  indexCar,
  inlineCid,
  patternBytes,
  pbBlock,
  rawBlock,
  reasonOf,
  section,
  utf8,
  writeCar,
} from './testing-cars.ts'

const a = rawBlock(utf8('a'))
const b = rawBlock(utf8('bb'))

const chunker = fixedSize({ chunkSize: 1000 })
const layout = balanced({ maxChildrenPerNode: 3 })

describe('CarIndexer: DAGs that are not complete', () => {
  test('a root that is not among the blocks, also when the header names it', async () => {
    const car = await writeCar([a.cid], [b])
    expect(indexCar(car, a.cid)).toEqual({ fault: 'incomplete', missing: [a.cid.toString()] })
    expect(indexCar(header({ roots: [a.cid], version: 1 }), a.cid)).toEqual({
      fault: 'incomplete',
      missing: [a.cid.toString()],
    })
  })

  test('each block of a DAG, when it is left out, is named as it is linked to', async () => {
    for (const leaves of [{}, { cidVersion: 0, rawLeaves: false } as const]) {
      const { root, store } = await importFiles([{ content: patternBytes(12_000) }], { ...leaves, chunker, layout })
      for (const { cid } of store.blocks) {
        const car = await writeCar(
          [root],
          store.blocks.filter((block) => block.cid !== cid),
        )
        expect(indexCar(car, root)).toEqual({ fault: 'incomplete', missing: [cid.toString()] })
      }
    }
  })

  test('the first ten of many, depth first, each once', async () => {
    const leaves = Array.from({ length: 30 }, (_, number) => rawBlock(utf8(`leaf ${number}`)).cid)
    const inner = cborBlock(leaves.slice(0, 3))
    const root = cborBlock([inner.cid, leaves[0], ...leaves])
    expect(indexCar(await writeCar([root.cid], [root, inner]), root.cid)).toEqual({
      fault: 'incomplete',
      missing: leaves.slice(0, 10).map(String),
    })
  })

  test('a block under another codec than the one it is linked by, since its links were not looked for', async () => {
    const linked = cborBlock({ missing: b.cid })
    const asRaw = { cid: cidOf(0x55, linked.bytes), bytes: linked.bytes }
    const root = cborBlock([linked.cid])
    expect(indexCar(await writeCar([root.cid], [root, asRaw]), root.cid)).toEqual({
      fault: 'incomplete',
      missing: [linked.cid.toString()],
    })
    // Both under one multihash: verified once more, listed once, and found to lack what it links to.
    expect(indexCar(await writeCar([root.cid], [root, asRaw, linked]), root.cid)).toEqual({
      fault: 'incomplete',
      missing: [b.cid.toString()],
    })
    const car = await writeCar([root.cid], [root, asRaw, linked, b])
    expectBlocks(goodIndex(car, root.cid), car, [root, asRaw, b])
  })

  test('a raw link is satisfied by the same bytes under any codec', async () => {
    const target = cborBlock([])
    const root = cborBlock([cidOf(0x55, target.bytes)])
    expect(goodIndex(await writeCar([root.cid], [root, target]), root.cid).blockCount).toBe(2)
  })
})

describe('CarIndexer: blocks that are not what they say', () => {
  test('names the CID that was expected and the one that the bytes have, of the same version, codec and hash', async () => {
    const bytes = utf8('other')
    const cids = [
      a.cid,
      cborBlock('x').cid,
      cidOf(0x70, utf8('x'), { version: 0 }),
      cidOf(0x55, utf8('x'), { hash: BLAKE3 }),
    ]
    for (const cid of cids) {
      expect(indexCar(await writeCar([cid], [{ cid, bytes }]), cid)).toEqual({
        fault: 'mismatch',
        expected: cid.toString(),
        actual: cidOf(cid.code, bytes, { hash: cid.multihash.code, version: cid.version }).toString(),
      })
    }
  })

  test('also where the root does not lead to it, and where the same block was right before', async () => {
    const wrong = { cid: b.cid, bytes: utf8('wrong') }
    expect(indexCar(await writeCar([a.cid], [a, wrong]), a.cid)).toMatchObject({ fault: 'mismatch' })
    expect(indexCar(await writeCar([a.cid], [a, b, wrong]), a.cid)).toMatchObject({ fault: 'mismatch' })
  })

  test('an identity CID over other bytes than it carries', async () => {
    const cid = inlineCid(0x55, utf8('inline'))
    expect(reasonOf(indexCar(await writeCar([], [{ cid, bytes: utf8('other!') }]), a.cid))).toBe(
      `The block ${cid} differs from the bytes in its identity CID.`,
    )
  })

  test('the first fault is kept, whatever follows', async () => {
    const indexer = new CarIndexer({ root: { codec: 0x55, multihash: a.cid.multihash.bytes }, sizeBytes: 1000, hashes })
    indexer.update(concat([header(), section(a.cid.bytes, utf8('wrong'))]))
    indexer.update(section(a.cid.bytes, a.bytes))
    indexer.update(new Uint8Array(5000))
    expect(indexer.finish()).toMatchObject({ fault: 'mismatch', expected: a.cid.toString() })
  })
})

describe('CarIndexer: files that contradict themselves', () => {
  const leaf = (sizeBytes: number) => ({ cid: b.cid, sizeBytes })

  test.each([
    [
      'a raw part of another size',
      () => [fileBlock([leaf(3)]), b],
      /declares 3 bytes for its part bafkrei\w+, but that part has 2\.$/,
    ],
    [
      'an inner node of another size',
      () => {
        const inner = fileBlock([leaf(2)])
        return [fileBlock([{ cid: inner.cid, sizeBytes: 5 }]), inner, b]
      },
      /declares 5 bytes for its part bafybei\w+, but that part has 2\.$/,
    ],
    [
      'a part that is no file',
      () => {
        const inner = cborBlock('no file')
        return [fileBlock([{ cid: inner.cid, sizeBytes: 8 }]), inner]
      },
      /has the part bafyrei\w+, which is not a UnixFS file\.$/,
    ],
    [
      'a part that is a directory',
      () => {
        const inner = pbBlock({ Data: new UnixFS({ type: 'directory' }).marshal(), Links: [] })
        return [fileBlock([{ cid: inner.cid, sizeBytes: 0 }]), inner]
      },
      /which is not a UnixFS file\.$/,
    ],
    [
      'a root with more links than sizes',
      () => [pbBlock({ Data: new UnixFS({ type: 'file' }).marshal(), Links: [{ Hash: b.cid }] }), b],
      /^The file node bafybei\w+ has inconsistent part sizes or links\.$/,
    ],
    [
      'a part with more links than sizes, announced as empty',
      () => {
        const inner = pbBlock({ Data: new UnixFS({ type: 'file' }).marshal(), Links: [{ Hash: b.cid }] })
        return [fileBlock([{ cid: inner.cid, sizeBytes: 0 }]), inner, b]
      },
      /has inconsistent part sizes or links\.$/,
    ],
    [
      'an inline part of another size',
      () => [fileBlock([{ cid: inlineCid(0x55, utf8('inline')), sizeBytes: 7 }])],
      /declares 7 bytes for its part \w+, but that part has 6\.$/,
    ],
  ] as const)('refuses %s', async (_, make, reason) => {
    const blocks: readonly Block[] = make()
    const root = blocks[0]?.cid ?? a.cid
    expect(reasonOf(indexCar(await writeCar([root], blocks), root))).toMatch(reason)
  })

  test('does not look at files that are not the root', async () => {
    const broken = fileBlock([leaf(3)])
    const root = cborBlock([broken.cid])
    expect(goodIndex(await writeCar([root.cid], [root, broken, b]), root.cid)).toMatchObject({ root: 'other' })
  })

  test('takes a file with bytes of its own, empty parts and inline parts', async () => {
    const empty = rawBlock(new Uint8Array())
    const root = fileBlock(
      [
        { cid: empty.cid, sizeBytes: 0 },
        { cid: inlineCid(0x55, utf8('inline')), sizeBytes: 6 },
        { cid: b.cid, sizeBytes: 2 },
      ],
      { data: utf8('own') },
    )
    expect(goodIndex(await writeCar([root.cid], [root, empty, b]), root.cid).fileSizeBytes).toBe(11)
  })
})
