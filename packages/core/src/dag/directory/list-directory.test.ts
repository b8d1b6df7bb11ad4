import fc from 'fast-check'
import { UnixFS } from 'ipfs-unixfs'
import { CID } from 'multiformats/cid'
import { describe, expect, test } from 'vitest'
import { LadeError } from '../../errors/lade-error.ts'
import {
  fileBlock,
  importFiles,
  inlineCid,
  pbBlock,
  rawBlock,
  TestStore,
  unixfsMessage,
  utf8,
} from '../car/testing-cars.ts'
import { DagReadError, type DirectoryPage, listDirectory, resolvePath } from '../dag.ts'
import { encodeShard } from './encode-directory.ts'
import { fileEntry, manyFiles, storedDirectory } from './testing-directories.ts'
import { namesThatCollide, SeededNumbers, someName } from './testing-trees.ts'

/** All pages of a directory, with the blocks that each one read. */
async function pagesOf(root: CID, store: TestStore, limits: readonly number[]) {
  const pages: DirectoryPage[] = []
  const reads: number[] = []
  let cursor: string | undefined
  do {
    const before = store.asked.length
    const limit = limits[pages.length % limits.length] ?? 1
    const page: DirectoryPage = await listDirectory({ root, getBlock: store.getBlock, cursor, limit })
    expect(page.entries.length).toBeLessThanOrEqual(limit)
    pages.push(page)
    reads.push(store.asked.length - before)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return { pages, reads }
}

const faultOf = async (page: Promise<DirectoryPage>) => {
  const error = await page.catch((thrown: unknown) => thrown)
  if (error instanceof DagReadError) return error.fault
  return LadeError.is(error) ? error.code : error
}

describe('listDirectory', () => {
  test('all pages together are all entries, once', async () => {
    const collisions = namesThatCollide()
    const limits = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.constantFrom(0, 1, 30, 5500), limits, async (seed, count, pageLimits) => {
        const numbers = new SeededNumbers(seed)
        const names = new Set(Array.from({ length: count }, (_, index) => `${someName(numbers)}${index}`))
        for (const name of count > 0 ? collisions : []) names.add(name)
        const files = new Map(Array.from(names, (name) => [name, fileEntry(name)]))
        const { root, store } = storedDirectory(files.values())
        const small = count > 100 ? pageLimits.map((limit) => limit + 100) : pageLimits
        const { pages } = await pagesOf(root, store, small)
        const listed = pages.flatMap(({ entries }) => entries)
        expect(listed.map(({ name }) => name).sort()).toEqual([...names].sort())
        for (const { name, cid, kind, dagBytes } of listed) {
          const file = files.get(name)
          if (file?.cid.equals(cid) !== true || kind !== 'file' || dagBytes !== file.dagBytes) expect.fail(name)
        }
      }),
      { numRuns: 8 },
    )
  })

  test('gives the entries of sharded directories of other writers, of every fanout', async () => {
    const files = Array.from({ length: 300 }, (_, index) => ({ path: `${index}`, content: utf8('x') }))
    for (const shardFanoutBits of [3, 4, 8, 10]) {
      const { root, store } = await importFiles(files, {
        shardSplitThresholdBytes: 0,
        shardFanoutBits,
        wrapWithDirectory: true,
      })
      const { pages } = await pagesOf(root, store, [7])
      const names = pages.flatMap(({ entries }) => entries.map(({ name }) => name))
      expect(names.sort()).toEqual(files.map(({ path }) => path).sort())
    }
  })

  test('reads the shards of a page alone', async () => {
    const { root, store, blocks } = storedDirectory(manyFiles(20_000))
    const { pages, reads } = await pagesOf(root, store, [1000])
    expect(pages).toHaveLength(20)
    expect(Math.max(...reads)).toBeLessThan(blocks.length / 10)
  })

  test('lists a directory inside of another by its resolved path', async () => {
    const { root, store } = storedDirectory([...manyFiles(6000, 'ä/big/'), fileEntry('ä/small')])
    const { terminal } = await resolvePath(root, ['ä', 'big'], store.getBlock)
    const page = await listDirectory({ root: terminal ?? expect.fail(), getBlock: store.getBlock, limit: 1 })
    expect(page.entries[0]?.name).toMatch(/^a file with a long name/)
    const { path, terminal: file } = await resolvePath(root, ['ä', 'big', page.entries[0]?.name ?? ''], store.getBlock)
    expect(path.length).toBeGreaterThan(3)
    expect(file).toEqual(page.entries[0]?.cid)
  })

  test('tells what a directory does not', async () => {
    const file = fileBlock([])
    const Links = [
      { Hash: file.cid, Name: 'a' },
      { Hash: rawBlock(utf8('b')).cid, Name: 'b', Tsize: 1 },
    ]
    const root = pbBlock({ Data: new UnixFS({ type: 'directory' }).marshal(), Links })
    const store = new TestStore()
    store.put(root)
    const { entries } = await listDirectory({ root: root.cid, getBlock: store.getBlock, limit: 10 })
    expect(entries.map(({ name, kind, dagBytes }) => ({ name, kind, dagBytes }))).toEqual([
      { name: 'a', kind: undefined, dagBytes: undefined },
      { name: 'b', kind: 'file', dagBytes: 1 },
    ])
  })

  test('error: a cursor that is none of this directory', async () => {
    const plain = storedDirectory([fileEntry('a'), fileEntry('b')])
    const sharded = storedDirectory(manyFiles(6000))
    const wrongs = ['', 'x', '-1', '1.', '2', '99', '0.0', '1e1', '9'.repeat(30), '1'.repeat(101)]
    for (const { root, store } of [plain, sharded]) {
      for (const cursor of root === plain.root
        ? wrongs
        : [...wrongs.slice(0, 4), '256', '0.256', '0.0.0', '0.0.0.0.0']) {
        const page = listDirectory({ root, getBlock: store.getBlock, cursor, limit: 10 })
        expect(await faultOf(page), cursor).toBe('invalid_cursor')
      }
    }
  })

  test('error: a root that is no directory, missing or damaged', async () => {
    const store = new TestStore()
    const leaf = rawBlock(utf8('leaf'))
    const file = fileBlock([{ cid: leaf.cid, sizeBytes: 4 }])
    store.put(leaf)
    store.put(file)
    const faultAt = (root: CID) => faultOf(listDirectory({ root, getBlock: store.getBlock, limit: 1 }))
    expect(await faultAt(leaf.cid)).toBe('bad_request')
    expect(await faultAt(file.cid)).toBe('bad_request')
    expect(await faultAt(pbBlock({ Links: [] }).cid)).toBe('missing')
    expect(await faultAt(inlineCid(0x70, utf8('x')))).toBe('undecodable')
    expect(await faultAt(inlineCid(0x70, pbBlock({ Data: unixfsMessage([1, 5], [6, 7]), Links: [] }).bytes))).toBe(
      'inconsistent',
    )
    expect(await faultOf(listDirectory({ root: leaf.cid, getBlock: store.getBlock, limit: 0 }))).toBeInstanceOf(
      TypeError,
    )
  })

  test('error: shards that name themselves, or lead to nothing, end within a few blocks', async () => {
    const itself = CID.createV1(0x70, rawBlock(utf8('any')).cid.multihash)
    const shards = Array.from({ length: 256 }, (_, bucket) => ({
      cid: itself,
      dagBytes: 1,
      bucket,
      nameBytes: undefined,
    }))
    const store = new TestStore()
    store.put({ cid: itself, bytes: encodeShard(shards) })
    const list = () => listDirectory({ root: itself, getBlock: store.getBlock, limit: 1000 })
    expect(await faultOf(list())).toBe('inconsistent')
    expect(store.asked.length).toBeLessThan(12)

    // Seven levels of shards, each 256 times the next, above one without links: 256^7 blocks on all ways.
    let below = { cid: CID.createV1(0x70, rawBlock(utf8('0')).cid.multihash), bytes: encodeShard([]) }
    store.put(below)
    for (let level = 1; level < 8; level += 1) {
      const { cid } = below
      below = {
        cid: CID.createV1(0x70, rawBlock(utf8(`${level}`)).cid.multihash),
        bytes: encodeShard(shards.map((shard) => ({ ...shard, cid }))),
      }
      store.put(below)
    }
    const askedBefore = store.asked.length
    expect(await faultOf(listDirectory({ root: below.cid, getBlock: store.getBlock, limit: 10 }))).toBe('inconsistent')
    expect(store.asked.length - askedBefore).toBeLessThan(12)
  })
})
