import { describe, expect, test } from 'vitest'
import { DagReadError } from './dag-read-error.ts'
import { gather, importFiles, patternBytes, utf8 } from './testing-cars.ts'
import { walkTree } from './walk-tree.ts'

const FILES = [
  { path: 'a.txt', content: utf8('a') },
  { path: 'dir/b.txt', content: utf8('b') },
  { path: 'dir/deep/c.bin', content: patternBytes(600_000) },
  { path: 'ä/a.txt', content: utf8('a') },
]

describe('walkTree', () => {
  test.each([
    ['plain', 1_000_000],
    ['sharded', 1],
  ])('gives all of a tree of %s directories, each directory before what is in it', async (_kind, threshold) => {
    const { root, store } = await importFiles(FILES, { wrapWithDirectory: true, shardSplitThresholdBytes: threshold })
    const entries = await gather(walkTree(root, store.getBlock))
    const paths = entries.map(({ names }) => names.join('/'))
    expect([...paths].sort()).toEqual(['', 'a.txt', 'dir', 'dir/b.txt', 'dir/deep', 'dir/deep/c.bin', 'ä', 'ä/a.txt'])
    for (const path of paths.slice(1)) {
      const parent = path.split('/').slice(0, -1).join('/')
      expect(paths.indexOf(parent)).toBeLessThan(paths.indexOf(path))
    }
    const kinds = new Map(entries.map(({ names, node }) => [names.join('/'), node.kind]))
    expect(kinds.get('a.txt')).toBe('file')
    expect(kinds.get('dir')).toBe(threshold === 1 ? 'hamt' : 'directory')
  })

  test('gives a file as itself, and reads the root alone of one that has many blocks', async () => {
    const { root, store } = await importFiles([{ content: patternBytes(600_000) }], {})
    const entries = await gather(walkTree(root, store.getBlock))
    expect(entries).toMatchObject([{ names: [], cid: root, node: { kind: 'file', sizeBytes: 600_000 } }])
    expect(store.asked).toEqual([root.toString()])
  })

  test('ends where a block is missing', async () => {
    const { root, store } = await importFiles(FILES, { wrapWithDirectory: true, rawLeaves: true })
    const [{ cid: first } = expect.fail()] = store.blocks
    store.delete(first)
    const error = await gather(walkTree(root, store.getBlock)).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(DagReadError)
  })
})
