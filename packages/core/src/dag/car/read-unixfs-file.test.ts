import fc from 'fast-check'
import { UnixFS } from 'ipfs-unixfs'
import { exporter } from 'ipfs-unixfs-exporter'
import { fixedSize } from 'ipfs-unixfs-importer/chunker'
import { balanced, trickle } from 'ipfs-unixfs-importer/layout'
import { describe, expect, test } from 'vitest'
import { LadeError } from '../../errors/lade-error.ts'
import { DagReadError } from './dag-read-error.ts'
import { type FileRead, readUnixfsFile } from './read-unixfs-file.ts'
import {
  cborBlock,
  concat,
  fileBlock,
  fromUtf8,
  gather,
  hex,
  type ImporterOptions,
  importFiles,
  inlineCid,
  patternBytes,
  pbBlock,
  rawBlock,
  TestStore,
  utf8,
} from './testing-cars.ts'

const SIZE = 1500
const chunker = fixedSize({ chunkSize: 100 })
const LAYOUTS: readonly ImporterOptions[] = [
  { chunker, layout: balanced({ maxChildrenPerNode: 3 }) },
  { chunker, layout: balanced({ maxChildrenPerNode: 3 }), rawLeaves: false, leafType: 'raw' },
  { chunker, layout: trickle({ layerRepeat: 2, maxChildrenPerNode: 3 }), rawLeaves: false },
  { profile: 'unixfs-v0-2015' },
  { profile: 'unixfs-v1-2025' },
]

async function bytesOf(read: FileRead): Promise<Uint8Array> {
  const chunks = await gather(readUnixfsFile(read))
  for (const chunk of chunks) expect(chunk.length).toBeGreaterThan(0)
  return concat(chunks)
}

async function faultOf(read: FileRead): Promise<string> {
  try {
    const bytes = await bytesOf(read)
    return expect.fail(`read ${bytes.length} bytes`)
  } catch (error) {
    if (LadeError.has(error, 'range_not_satisfiable')) return `outside of ${error.evidence.size}`
    if (error instanceof DagReadError) return `${error.fault} ${error.cid}`
    throw error
  }
}

describe('readUnixfsFile', () => {
  test('gives what ipfs-unixfs-exporter does, for any range', async () => {
    for (const options of LAYOUTS) {
      const content = patternBytes(SIZE)
      const { root, store } = await importFiles([{ content }], options)
      const entry = await exporter(root, store.asBlockstore)
      if (entry.type !== 'file' && entry.type !== 'raw') expect.fail(entry.type)
      expect(hex(await bytesOf({ root, getBlock: store.getBlock }))).toBe(hex(content))
      await fc.assert(
        fc.asyncProperty(fc.nat({ max: SIZE }), fc.nat({ max: SIZE }), async (x, y) => {
          const [offset, length] = [Math.min(x, y), Math.abs(x - y)]
          const bytes = await bytesOf({ root, getBlock: store.getBlock, range: { offset, length } })
          expect(hex(bytes)).toBe(hex(content.subarray(offset, offset + length)))
          // The exporter reads a length of zero as all of the file.
          if (length === 0) return
          const exported = concat(await gather(entry.content({ offset, length })))
          expect(hex(bytes)).toBe(hex(exported))
        }),
        { numRuns: 60 },
      )
    }
  })

  test('fetches the blocks of the range and no others', async () => {
    const { root, store } = await importFiles([{ content: patternBytes(SIZE) }], LAYOUTS[0] ?? {})
    expect(store.blocks).toHaveLength(15 + 5 + 2 + 1)
    await bytesOf({ root, getBlock: store.getBlock, range: { offset: 1450, length: 10 } })
    expect(store.asked).toHaveLength(4)
    store.asked.length = 0
    await bytesOf({ root, getBlock: store.getBlock, range: { offset: 1450, length: 0 } })
    expect(store.asked).toEqual([root.toString()])
  })

  test('reads a file of several chunks of an import profile', async () => {
    const content = patternBytes(2 ** 20 + 5)
    for (const options of LAYOUTS.slice(3)) {
      const { root, store } = await importFiles([{ content }], options)
      const range = { offset: 2 ** 20 - 5, length: 10 }
      expect(hex(await bytesOf({ root, getBlock: store.getBlock, range }))).toBe(
        hex(content.subarray(range.offset, range.offset + range.length)),
      )
    }
  })

  test('reads empty files, nodes with bytes of their own, repeated and inline parts', async () => {
    const leaf = rawBlock(utf8('leaf '))
    const root = fileBlock(
      [
        { cid: leaf.cid, sizeBytes: 5 },
        { cid: inlineCid(0x55, utf8('inline ')), sizeBytes: 7 },
        { cid: leaf.cid, sizeBytes: 5 },
      ],
      { data: utf8('own ') },
    )
    const empty = rawBlock(new Uint8Array())
    const store = new TestStore()
    for (const block of [leaf, root, empty]) store.put(block)
    expect(fromUtf8(await bytesOf({ root: root.cid, getBlock: store.getBlock }))).toBe('own leaf inline leaf ')
    expect(await bytesOf({ root: empty.cid, getBlock: store.getBlock })).toEqual(new Uint8Array())
    const inline = inlineCid(0x55, utf8('inline'))
    expect(fromUtf8(await bytesOf({ root: inline, getBlock: store.getBlock }))).toBe('inline')
  })

  test('refuses ranges that are not inside of the file', async () => {
    const leaf = rawBlock(utf8('leaf'))
    const store = new TestStore()
    store.put(leaf)
    const fault = (offset: number, length: number) =>
      faultOf({ root: leaf.cid, getBlock: store.getBlock, range: { offset, length } })
    for (const [offset, length] of [
      [0, 5],
      [5, 0],
      [-1, 2],
      [3, -1],
      [Number.NaN, 1],
    ] as const) {
      expect(await fault(offset, length)).toBe('outside of 4')
    }
    expect(await bytesOf({ root: leaf.cid, getBlock: store.getBlock, range: { offset: 4, length: 0 } })).toHaveLength(0)
  })

  test('refuses what is no file', async () => {
    const directory = pbBlock({ Data: new UnixFS({ type: 'directory' }).marshal(), Links: [] })
    const store = new TestStore()
    for (const block of [cborBlock({}), directory, pbBlock({ Links: [] })]) {
      store.put(block)
      expect(await faultOf({ root: block.cid, getBlock: store.getBlock })).toBe(`not-a-file ${block.cid}`)
    }
  })

  test('names the block that is missing, and the part that has another size than is announced', async () => {
    const leaf = rawBlock(utf8('leaf'))
    const wrong = fileBlock([{ cid: leaf.cid, sizeBytes: 3 }])
    const root = fileBlock([
      { cid: leaf.cid, sizeBytes: 4 },
      { cid: wrong.cid, sizeBytes: 3 },
    ])
    const store = new TestStore()
    for (const block of [root, wrong]) store.put(block)
    const read = { root: root.cid, getBlock: store.getBlock }
    expect(await faultOf(read)).toBe(`missing ${leaf.cid}`)
    store.put(leaf)
    expect(await faultOf(read)).toBe(`inconsistent ${leaf.cid}`)
    expect(fromUtf8(await bytesOf({ ...read, range: { offset: 0, length: 4 } }))).toBe('leaf')
  })
})
