import { expect, test } from 'vitest'
import { buildDirectory } from '../dag.ts'
import { sha256 } from '../testing-dag.ts'
import { importTree } from './testing-directories.ts'
import { namesThatCollide, someTree } from './testing-trees.ts'

const TREES = process.env.LADE_TEST_PLAN === 'full' ? 5000 : 500

/** One tree in 25 has a folder that is sharded, and one in 125 a folder of 20,000 entries. */
function bigFolderEntries(seed: number): number {
  if (seed % 125 === 0) return 20_000
  return seed % 25 === 0 ? 3000 + 10 * seed : 0
}

test('500 trees have the roots that ipfs-unixfs-importer gives them', { timeout: 1_200_000 }, async () => {
  const extraNames = namesThatCollide()
  for (let seed = 1; seed <= TREES; seed += 1) {
    const sizes = {
      entries: 1 + (seed % 300),
      depth: 1 + (seed % 20),
      bigFolderEntries: bigFolderEntries(seed),
      extraNames,
    }
    const { root, entries } = await importTree(someTree(seed, sizes))
    expect(buildDirectory({ entries, sha256 }).root.toString(), `seed ${seed}`).toBe(root)
  }
})
