import { describe, expect, test } from 'vitest'
import { type BlockReader, readerOf } from './block-reader.ts'
import { cborBlock, fileBlock, gather, rawBlock, TestStore, utf8 } from './testing-cars.ts'
import { walkDag } from './walk-dag.ts'

const storeOf = (...blocks: Parameters<TestStore['put']>[0][]) => {
  const store = new TestStore()
  for (const block of blocks) store.put(block)
  return store
}

/** A reader that gives up after some links. */
function readerUpTo(store: TestStore, maxLinks: number): BlockReader & { readonly followed: () => number } {
  let links = 0
  return {
    ...readerOf(store.getBlock),
    async follow() {
      links += 1
      if (links > maxLinks) throw new RangeError('enough')
    },
    followed: () => links,
  }
}

describe('a walk by a reader', () => {
  test('tells of every link that it comes to, also of those that it has followed before', async () => {
    const leaf = rawBlock(utf8('leaf'))
    const root = cborBlock(Array.from({ length: 1000 }, () => leaf.cid))
    const reader = readerUpTo(storeOf(leaf, root), 1000)
    expect(await gather(walkDag({ root: root.cid, getBlock: reader }))).toHaveLength(2)
    expect(reader.followed()).toBe(1000)
  })

  test('can be ended by it where the DAG has no end', async () => {
    let root = rawBlock(utf8('a'))
    const store = storeOf(root)
    for (let sizeBytes = 1; sizeBytes < 2 ** 50; sizeBytes *= 2) {
      root = fileBlock([0, 1].map(() => ({ cid: root.cid, sizeBytes })))
      store.put(root)
    }
    for (const scope of ['all', 'entity'] as const) {
      const walk = walkDag({ root: root.cid, getBlock: readerUpTo(store, 5000), dups: true, scope })
      await expect(gather(walk)).rejects.toThrow('enough')
    }
  })

  test('tells of the parts of a file that have no bytes', async () => {
    const leaf = rawBlock(new Uint8Array())
    const root = fileBlock(Array.from({ length: 1000 }, () => ({ cid: leaf.cid, sizeBytes: 0 })))
    const walk = { root: root.cid, dups: true, entityBytes: { from: 0, to: undefined } }
    const reader = readerUpTo(storeOf(leaf, root), 1000)
    expect(await gather(walkDag({ ...walk, getBlock: reader }))).toHaveLength(1)
    expect(reader.followed()).toBe(1000)
  })

  test('reads the links of blocks again when the way down to the current one has too many', async () => {
    const leaf = rawBlock(utf8('leaf'))
    const end = rawBlock(utf8('end'))
    let block = cborBlock([])
    const store = storeOf(leaf, end, block)
    const way = [block.cid]
    for (let level = 0; level < 10; level += 1) {
      block = cborBlock([block.cid, ...Array.from({ length: 5000 }, () => leaf.cid)])
      store.put(block)
      way.unshift(block.cid)
    }
    const root = cborBlock([block.cid, end.cid])
    store.put(root)
    store.asked.length = 0
    const given = (await gather(walkDag({ root: root.cid, getBlock: store.getBlock }))).map(({ cid }) => cid.toString())
    expect(given).toEqual([root.cid, ...way, leaf.cid, end.cid].map(String))
    expect(new Set(store.asked).size).toBe(given.length)
    // More than once each, and not again and again.
    expect(store.asked.length).toBeGreaterThan(given.length)
    expect(store.asked.length).toBeLessThanOrEqual(2 * given.length)
  })
})
