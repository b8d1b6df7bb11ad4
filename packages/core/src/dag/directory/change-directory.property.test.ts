import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { buildDirectory, changeDirectory, type DirectoryChange } from '../dag.ts'
import { sha256 } from '../testing-dag.ts'
import type { DirectoryEntry } from './directory-entry.ts'
import { fileEntry, folder, storedDirectory, symlink } from './testing-directories.ts'
import { namesThatCollide } from './testing-trees.ts'

/** With names so long, a folder is sharded from 878 files on. */
const LONG_NAMES = Array.from({ length: 1000 }, (_, index) => `${'ü'.repeat(125)}${index}`)
const BIG = 'a/big'
const NAMES = ['x', 'y', 'z', 'ż', ...namesThatCollide().slice(0, 4)]
const FOLDERS = ['', 'a', 'a/b', 'a/b/c', 'd', BIG]

/** The entries that a directory has; folders have entries of their own. */
class DirectoryModel {
  readonly entries = new Map<string, DirectoryEntry>()

  /** Makes a change, if it can be made. */
  apply(change: DirectoryChange): boolean {
    if ('remove' in change) return this.#remove(change.remove)
    const { path, kind } = change.put
    const parents = path.split('/').slice(0, -1)
    const ways = parents.map((_, index) => parents.slice(0, index + 1).join('/'))
    const there = this.entries.get(path)
    if (ways.some((way) => (this.entries.get(way)?.kind ?? 'folder') !== 'folder')) return false
    if (there !== undefined && (kind === 'folder') !== (there.kind === 'folder')) return false
    for (const way of ways) this.entries.set(way, folder(way))
    this.entries.set(path, change.put)
    return true
  }

  #remove(path: string): boolean {
    if (!this.entries.delete(path)) return false
    for (const other of this.entries.keys()) if (other.startsWith(`${path}/`)) this.entries.delete(other)
    return true
  }
}

const somePath = fc
  .tuple(fc.constantFrom(...FOLDERS), fc.constantFrom(...NAMES, ...FOLDERS.slice(1, 3)))
  .map(([parent, name]) => (parent === '' ? name : `${parent}/${name}`))
const oneChange: fc.Arbitrary<DirectoryChange[]> = fc.oneof(
  somePath.chain((path) =>
    fc
      .oneof(
        fc.nat({ max: 3 }).map((content) => fileEntry(path, `${content}`)),
        // A Tsize whose varint is longer, so that links above grow.
        fc.constantFrom(100, 2 ** 20, 2 ** 40).map((dagBytes) => ({ ...fileEntry(path), dagBytes })),
        fc.constantFrom('x', '../y').map((target) => symlink(path, target)),
        fc.constant(folder(path)),
      )
      .map((put) => [{ put }]),
  ),
  somePath.map((path) => [{ remove: path }]),
  fc.constantFrom(BIG, 'a').map((path) => [{ remove: path }]),
)
const manyChanges: fc.Arbitrary<DirectoryChange[]> = fc
  .record({ isPut: fc.boolean(), start: fc.nat({ max: 950 }), count: fc.integer({ min: 1, max: 50 }) })
  .map(({ isPut, start, count }) =>
    LONG_NAMES.slice(start, start + count).map((name) => {
      const path = `${BIG}/${name}`
      return isPut ? { put: fileEntry(path, 'x') } : { remove: path }
    }),
  )
const someChanges = fc
  .array(fc.oneof({ weight: 2, arbitrary: oneChange }, manyChanges), { minLength: 1, maxLength: 8 })
  .map((changes) => changes.flat())

describe('any sequence of changes', () => {
  test('begins on both sides of the threshold', () => {
    for (const [count, isSharded] of [
      [877, false],
      [878, true],
    ] as const) {
      const { blocks } = storedDirectory(LONG_NAMES.slice(0, count).map((name) => fileEntry(name, 'x')))
      expect(blocks.length > 1).toBe(isSharded)
    }
  })

  test.each([0, 850, 877, 878, 920])(
    'gives what is built of the same entries, from %i long names on',
    async (count) => {
      let timesSharded = 0
      await fc.assert(
        fc.asyncProperty(fc.array(someChanges, { minLength: 1, maxLength: 6 }), async (batches) => {
          const model = new DirectoryModel()
          for (const name of LONG_NAMES.slice(0, count)) model.apply({ put: fileEntry(`${BIG}/${name}`, 'x') })
          const { root: first, store } = storedDirectory(model.entries.values())
          let root = first
          for (const batch of batches) {
            const changes = batch.filter((change) => model.apply(change))
            const changed = await changeDirectory({ root, changes, getBlock: store.getBlock, sha256 })
            for (const block of changed.blocks) store.put(block)
            const rebuilt = buildDirectory({ entries: model.entries.values(), sha256 })
            expect(changed.root.toString()).toBe(rebuilt.root.toString())
            expect(changed.dagBytes).toBe(rebuilt.dagBytes)
            if (rebuilt.blocks.length > 100) timesSharded += 1
            root = changed.root
          }
        }),
        { numRuns: 25 },
      )
      if (count >= 878) expect(timesSharded).toBeGreaterThan(0)
    },
  )

  test('gives new blocks only, and all that are needed', async () => {
    await fc.assert(
      fc.asyncProperty(someChanges, async (batch) => {
        const model = new DirectoryModel()
        for (const name of LONG_NAMES.slice(0, 878)) model.apply({ put: fileEntry(`${BIG}/${name}`, 'x') })
        const { root, blocks, store } = storedDirectory(model.entries.values())
        const changes = batch.filter((change) => model.apply(change))
        const changed = await changeDirectory({ root, changes, getBlock: store.getBlock, sha256 })
        const before = new Set(blocks.map(({ cid }) => cid.toString()))
        const made = changed.blocks.map(({ cid }) => cid.toString())
        const needed = buildDirectory({ entries: model.entries.values(), sha256 }).blocks.map(({ cid }) =>
          cid.toString(),
        )
        expect(new Set(made).size).toBe(made.length)
        expect(needed.filter((cid) => !before.has(cid) && !made.includes(cid))).toEqual([])
        expect(made.filter((cid) => !needed.includes(cid))).toEqual([])
      }),
      { numRuns: 40 },
    )
  })
})
