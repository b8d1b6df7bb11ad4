import { UnixFS } from 'ipfs-unixfs'
import { exporter } from 'ipfs-unixfs-exporter'
import type { CID } from 'multiformats/cid'
import { describe, expect, test } from 'vitest'
import { readUnixfsNode } from '../unixfs-file.ts'
import { DagReadError } from './dag-read-error.ts'
import { murmur3x64 } from './murmur3.ts'
import { resolvePath } from './resolve-path.ts'
import {
  cborBlock,
  cidOf,
  importFiles,
  inlineCid,
  jsonBlock,
  patternBytes,
  pbBlock,
  rawBlock,
  TestStore,
  unixfsMessage,
  utf8,
} from './testing-cars.ts'

/** A resolved path with its CIDs as text. */
async function resolved(root: CID, path: string, store: TestStore) {
  const segments = path.split('/')
  const { path: blocks, terminal, remainder, missingSegment } = await resolvePath(root, segments, store.getBlock)
  return { path: blocks.map(String), terminal: terminal?.toString(), remainder, missingSegment }
}

const storeOf = (...blocks: Parameters<TestStore['put']>[0][]) => {
  const store = new TestStore()
  for (const block of blocks) store.put(block)
  return store
}

/** Names in the order of their bytes, as dag-pb has them. */
const directory = (entries: Readonly<Record<string, CID>>) =>
  pbBlock({
    Data: new UnixFS({ type: 'directory' }).marshal(),
    Links: Object.entries(entries).map(([Name, Hash]) => ({ Name, Hash })),
  })

const leaf = rawBlock(utf8('leaf'))

describe('resolvePath', () => {
  test('ends at the root for no segments, without looking at it', async () => {
    expect(await resolvePath(leaf.cid, [], new TestStore().getBlock)).toEqual({
      path: [],
      roots: [leaf.cid],
      terminal: leaf.cid,
      remainder: [],
      missingSegment: undefined,
    })
  })

  test('tells names apart whose characters have the same lower eight bits', async () => {
    const root = directory({ Łódź: leaf.cid })
    const store = storeOf(root)
    expect(await resolved(root.cid, 'Łódź', store)).toMatchObject({ terminal: leaf.cid.toString() })
    expect(await resolved(root.cid, 'Aódz', store)).toMatchObject({ missingSegment: 'Aódz' })
  })

  test('follows directories, and does not fetch the end', async () => {
    const inner = directory({ other: inlineCid(0x55, utf8('x')), 'ä b.txt': leaf.cid })
    const root = directory({ dir: inner.cid })
    const store = storeOf(inner, root)
    expect(await resolved(root.cid, 'dir/ä b.txt', store)).toMatchObject({
      path: [root.cid.toString(), inner.cid.toString()],
      terminal: leaf.cid.toString(),
    })
    expect(await resolved(root.cid, 'dir', store)).toMatchObject({
      path: [root.cid.toString()],
      terminal: `${inner.cid}`,
    })
  })

  test('says which segment is not there, with the blocks that prove it', async () => {
    const inner = directory({ file: leaf.cid })
    const root = directory({ dir: inner.cid })
    const store = storeOf(inner, root, leaf)
    const [r, i, l] = [root, inner, leaf].map(({ cid }) => cid.toString())
    const nowhere = { terminal: undefined, remainder: [] }
    expect(await resolved(root.cid, 'nope/x', store)).toEqual({ ...nowhere, path: [r], missingSegment: 'nope' })
    expect(await resolved(root.cid, 'dir/nope', store)).toEqual({ ...nowhere, path: [r, i], missingSegment: 'nope' })
    // A file has nothing below it.
    expect(await resolved(root.cid, 'dir/file/x', store)).toEqual({ ...nowhere, path: [r, i, l], missingSegment: 'x' })
    expect(await resolved(root.cid, 'dir//file', store)).toMatchObject({ missingSegment: '' })
  })

  test('takes the first of two entries with one name', async () => {
    const Data = new UnixFS({ type: 'directory' }).marshal()
    const Links = [leaf.cid, cidOf(0x55, utf8('second'))].map((Hash) => ({ Name: 'twice', Hash }))
    const root = pbBlock({ Data, Links })
    expect(await resolved(root.cid, 'twice', storeOf(root))).toMatchObject({ terminal: leaf.cid.toString() })
  })

  test.each([3, 4, 8, 10])('finds every name of a sharded directory of 2^%i buckets', async (shardFanoutBits) => {
    const names = Array.from({ length: 300 }, (_, number) => `${'ü'.repeat(number % 40)}${number}.txt`)
    const files = names.map((path) => ({ path, content: utf8(path) }))
    const { root, store } = await importFiles(files, {
      wrapWithDirectory: true,
      shardSplitThresholdBytes: 1,
      shardFanoutBits,
    })
    const depths = new Set<number>()
    for (const name of names) {
      const { path, terminal } = await resolved(root, name, store)
      expect(terminal).toBe(cidOf(0x55, utf8(name)).toString())
      expect(path[0]).toBe(root.toString())
      depths.add(path.length)
    }
    expect(depths.size).toBeGreaterThan(1)
    for (const name of ['absent', '', '00', 'txt']) {
      expect(await resolved(root, name, store)).toMatchObject({ terminal: undefined, missingSegment: name })
    }
  })

  test('agrees with ipfs-unixfs-exporter on nested sharded directories', async () => {
    const files = Array.from({ length: 120 }, (_, number) => ({
      path: `a/b${number % 3}/${number}`,
      content: patternBytes(number),
    }))
    const { root, store } = await importFiles(files, { wrapWithDirectory: true, shardSplitThresholdBytes: 1 })
    for (const { path } of files) {
      const entry = await exporter(`${root}/${path}`, store.asBlockstore)
      expect(await resolved(root, path, store)).toMatchObject({ terminal: entry.cid.toString() })
    }
  })

  test('goes through maps and lists of dag-cbor and dag-json until it meets a link', async () => {
    const inner = jsonBlock({ list: [0, { deep: leaf.cid }], text: 'text' })
    const root = cborBlock({ files: { single: leaf.cid }, inner: inner.cid })
    const store = storeOf(inner, root)
    const [r, i, l] = [root, inner, leaf].map(({ cid }) => cid.toString())
    const plain = { remainder: [], missingSegment: undefined }
    expect(await resolved(root.cid, 'files/single', store)).toEqual({ ...plain, path: [r], terminal: l })
    expect(await resolved(root.cid, 'inner', store)).toEqual({ ...plain, path: [r], terminal: i })
    expect(await resolved(root.cid, 'inner/list/1/deep', store)).toEqual({ ...plain, path: [r, i], terminal: l })
    expect(await resolved(root.cid, 'inner/list/1', store)).toEqual({
      path: [r],
      terminal: i,
      remainder: ['list', '1'],
      missingSegment: undefined,
    })
    for (const [path, segment] of [
      ['inner/list/2', '2'],
      ['inner/list/length', 'length'],
      ['inner/list/01', '01'],
      ['inner/text/0', '0'],
      ['toString', 'toString'],
    ] as const) {
      expect(await resolved(root.cid, path, store)).toMatchObject({ terminal: undefined, missingSegment: segment })
    }
  })

  test('goes through identity blocks, which are no part of the path', async () => {
    const root = cborBlock({ inline: inlineCid(0x71, cborBlock({ leaf: leaf.cid }).bytes) })
    expect(await resolved(root.cid, 'inline/leaf', storeOf(root))).toMatchObject({
      path: [root.cid.toString()],
      terminal: leaf.cid.toString(),
    })
  })

  test('tells names apart that differ in the high bytes of their characters only', async () => {
    const other = rawBlock(utf8('other'))
    const inner = directory({ 'z.txt': leaf.cid, 'ź.txt': other.cid, '日.txt': leaf.cid })
    for (const [name, end] of [
      ['ź.txt', other.cid],
      ['z.txt', leaf.cid],
      ['日.txt', leaf.cid],
      ['å.txt', undefined],
    ] as const) {
      expect((await resolved(inner.cid, name, storeOf(inner))).terminal).toBe(end?.toString())
    }
  })

  test('names the block that cannot be read', async () => {
    const broken = { cid: cidOf(0x71, utf8('?!')), bytes: utf8('?!') }
    const notPb = { cid: cidOf(0x70, utf8('?!')), bytes: utf8('?!') }
    const hamt = (hash: number, links: readonly { readonly Name: string; readonly Hash: CID }[]) =>
      pbBlock({ Data: unixfsMessage([1, 5], [2, utf8('bits')], [5, hash], [6, 256]), Links: [...links] })
    // '470.txt' lies in the bucket 6E of the shard in bucket 00.
    const brokenShard = hamt(0x22, [{ Name: '00', Hash: leaf.cid }])
    const otherHash = hamt(0x12, [])
    const root = directory({
      absent: rawBlock(utf8('absent')).cid,
      broken: broken.cid,
      notPb: notPb.cid,
      otherHash: otherHash.cid,
      shard: brokenShard.cid,
    })
    const store = storeOf(broken, notPb, brokenShard, otherHash, root, leaf)
    for (const [path, fault, cid] of [
      ['absent/x', 'missing', rawBlock(utf8('absent')).cid],
      ['broken/x', 'undecodable', broken.cid],
      ['notPb/x', 'undecodable', notPb.cid],
      ['shard/470.txt', 'inconsistent', leaf.cid],
      ['otherHash/x', 'unsupported', otherHash.cid],
    ] as const) {
      const error = await resolved(root.cid, path, store).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(DagReadError)
      expect(error).toMatchObject({ fault, cid })
    }
  })

  test('ends in a trie that is deeper than the hash of a name is long', async () => {
    const shard = (Hash: CID) =>
      pbBlock({
        Data: unixfsMessage([1, 5], [5, 0x22], [6, 256]),
        Links: Array.from({ length: 256 }, (_, bucket) => ({
          Name: bucket.toString(16).toUpperCase().padStart(2, '0'),
          Hash,
        })),
      })
    let root = shard(leaf.cid)
    const store = storeOf(root)
    for (let depth = 0; depth < 20; depth += 1) {
      root = shard(root.cid)
      store.put(root)
    }
    const { path, missingSegment } = await resolved(root.cid, 'name', store)
    expect(missingSegment).toBe('name')
    expect(path.length).toBeLessThanOrEqual(9)
  })

  test('a sharded directory is read as what the importer says that it is', async () => {
    const { root, store } = await importFiles([{ path: 'one', content: utf8('1') }], {
      wrapWithDirectory: true,
      shardSplitThresholdBytes: 1,
    })
    const node = readUnixfsNode(root.code, (await store.getBlock(root)) ?? expect.fail())
    expect(node).toMatchObject({ kind: 'hamt', fanout: 256, hashCode: 0x22, links: [{ name: 'one' }] })
  })
})

describe('murmur3x64', () => {
  // '470.txt' lies in the buckets 00 and 6E in the UnixFS specification; all computed with @multiformats/murmur3 2.2.8.
  test.each([
    ['', '0000000000000000'],
    ['a', '85555565f6597889'],
    ['470.txt', '006e88df5847e67c'],
    ['exactly16 bytes!', '39be96eaf003cebe'],
    ['more than sixteen bytes of name', '75939e532d50bb7b'],
    ['äöü.txt', 'b8c64f4d1f19f812'],
  ])('of %j', (text, expected) => {
    expect(murmur3x64(utf8(text)).toString(16).padStart(16, '0')).toBe(expected)
  })
})
