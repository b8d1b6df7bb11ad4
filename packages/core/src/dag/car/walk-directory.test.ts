import fc from 'fast-check'
import { UnixFS } from 'ipfs-unixfs'
import type { CID } from 'multiformats/cid'
import { describe, expect, test } from 'vitest'
import { DagReadError } from './dag-read-error.ts'
import { gather, importFiles, pbBlock, rawBlock, TestStore, unixfsMessage, utf8 } from './testing-cars.ts'
import { type DirectoryEntry, walkDirectory } from './walk-directory.ts'

const leaf = rawBlock(utf8('leaf'))

async function sharded(count: number) {
  const names = Array.from({ length: count }, (_, index) => `${index}.txt`)
  const files = names.map((path) => ({ path, content: utf8(path) }))
  const dag = await importFiles(files, { wrapWithDirectory: true, shardSplitThresholdBytes: 1, rawLeaves: true })
  return { ...dag, names }
}

const namesOf = (entries: readonly DirectoryEntry[]) => entries.map(({ name }) => name)
const directory = (names: readonly string[]) =>
  pbBlock({
    Data: new UnixFS({ type: 'directory' }).marshal(),
    Links: names.map((Name) => ({ Name, Hash: leaf.cid, Tsize: 4 })),
  })

describe('walkDirectory', () => {
  test('lists a directory in one block in its order, with what its writer says of sizes', async () => {
    const store = new TestStore()
    const root = store.put(directory(['a', 'b c', 'ź 日']))
    const entries = await gather(walkDirectory({ root, getBlock: store.getBlock }))
    expect(entries).toEqual(['a', 'b c', 'ź 日'].map((name) => ({ name, cid: leaf.cid, dagBytes: 4 })))
    expect(store.asked).toEqual([root.toString()])
    expect(namesOf(await gather(walkDirectory({ root, getBlock: store.getBlock, after: 'a' })))).toEqual([
      'b c',
      'ź 日',
    ])
    for (const after of ['ź 日', 'absent']) {
      expect(await gather(walkDirectory({ root, getBlock: store.getBlock, after }))).toEqual([])
    }
  })

  test('lists all entries of a sharded directory once, and reads nothing but its shards', async () => {
    const { root, store, names } = await sharded(700)
    const entries = await gather(walkDirectory({ root, getBlock: store.getBlock }))
    expect(namesOf(entries).sort()).toEqual([...names].sort())
    expect(new Set(store.asked).size).toBe(store.asked.length)
    expect(store.asked.every((cid) => !cid.startsWith('bafkrei'))).toBe(true)
  })

  test('goes on behind any name, whatever the pages, and reads no shards before it', async () => {
    const { root, store } = await sharded(700)
    const all = namesOf(await gather(walkDirectory({ root, getBlock: store.getBlock })))
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: all.length - 1 }), async (place) => {
        store.asked.length = 0
        const rest = await gather(walkDirectory({ root, getBlock: store.getBlock, after: all[place] }))
        expect(namesOf(rest)).toEqual(all.slice(place + 1))
        // The root, those behind, and of those before the way down to the name.
        expect(store.asked.length).toBeLessThanOrEqual(rest.length + 4)
      }),
      { numRuns: 40 },
    )
  })

  test('ends at what is no directory, is missing, or has shards that are none', async () => {
    const shard = (Hash: CID) =>
      pbBlock({ Data: unixfsMessage([1, 5], [5, 0x22], [6, 256]), Links: [{ Name: '00', Hash }] })
    const other = pbBlock({ Data: unixfsMessage([1, 5], [5, 0x22], [6, 16]), Links: [] })
    const store = new TestStore()
    for (const block of [leaf, other, shard(leaf.cid), shard(other.cid)]) store.put(block)
    for (const [root, fault] of [
      [leaf.cid, 'inconsistent'],
      [rawBlock(utf8('absent')).cid, 'missing'],
      [shard(leaf.cid).cid, 'inconsistent'],
      [shard(other.cid).cid, 'inconsistent'],
    ] as const) {
      const error = await gather(walkDirectory({ root, getBlock: store.getBlock })).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(DagReadError)
      expect(error).toMatchObject({ fault })
    }
  })
})
