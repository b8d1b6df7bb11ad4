import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LadeError } from '../../errors/lade-error.ts'
import { buildDirectory, MAX_DIRECTORY_DEPTH, MAX_DIRECTORY_ENTRIES } from '../dag.ts'
import { linksOf } from '../links.ts'
import { sha256 } from '../testing-dag.ts'
import type { DirectoryEntry } from './directory-entry.ts'
import { fileEntry, folder, importTree, manyFiles, storedDirectory, symlink } from './testing-directories.ts'
import { namesThatCollide, someTree } from './testing-trees.ts'

const EMPTY = 'bafybeiczsscdsbs7ffqz55asqdf3smv6klcw3gofszvwlyarci47bgf354'

function reasonOf(...entries: DirectoryEntry[]): string {
  try {
    buildDirectory({ entries, sha256 })
  } catch (error) {
    if (LadeError.has(error, 'bad_request')) return error.message
    throw error
  }
  return expect.fail('The entries were taken')
}

describe('buildDirectory', () => {
  test('gives the root of ipfs-unixfs-importer for trees of all kinds of names', async () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const tree = someTree(seed, { entries: 5 + 3 * seed, depth: 1 + (seed % 20), bigFolderEntries: 0 })
      const { root, entries } = await importTree(tree)
      expect(buildDirectory({ entries, sha256 }).root.toString(), `seed ${seed}`).toBe(root)
    }
  })

  test('gives the root of ipfs-unixfs-importer for sharded folders, also where names collide', async () => {
    const extraNames = namesThatCollide()
    expect(extraNames.length).toBeGreaterThan(2)
    const tree = someTree(1, { entries: 40, depth: 4, bigFolderEntries: 4500, extraNames })
    const { root, entries } = await importTree(tree)
    const built = buildDirectory({ entries, sha256 })
    expect(built.root.toString()).toBe(root)
    expect(built.blocks.length).toBeGreaterThan(256)
  })

  test('counts the links of folders for the threshold as those of files, as Kubo does and ipfs-unixfs-importer 17 does not', () => {
    const blockOf = (count: number) => {
      const entries = Array.from({ length: count }, (_, index) => fileEntry(`${10_000 + index}/file`, 'x'))
      return buildDirectory({ entries, sha256 }).blocks.at(-1)?.bytes.length
    }
    // 49 bytes for a link to a folder, and 4 for the directory around it.
    expect(blockOf(5349)).toBe(4 + 49 * 5349)
    expect(blockOf(5350)).toBeLessThan(20_000)
  })

  test('does not depend on the order of entries', () => {
    const entries = [...manyFiles(20, 'a/'), ...manyFiles(20, 'b/'), folder('c'), symlink('d', 'a')]
    const root = buildDirectory({ entries, sha256 }).root.toString()
    fc.assert(
      fc.property(fc.shuffledSubarray(entries, { minLength: entries.length }), (shuffled) => {
        expect(buildDirectory({ entries: shuffled, sha256 }).root.toString()).toBe(root)
      }),
      { numRuns: 20 },
    )
  })

  test('counts files and bytes, and the Tsize of the root as its links have it', () => {
    const entries = [
      fileEntry('docs/one', '1'),
      fileEntry('docs/two', '22'),
      symlink('link', 'docs/one'),
      folder('none'),
    ]
    const { fileCount, sizeBytes, dagBytes, blocks } = buildDirectory({ entries, sha256 })
    expect({ fileCount, sizeBytes }).toEqual({ fileCount: 2, sizeBytes: 3 })
    expect(dagBytes).toBe(blocks.reduce((sum, { bytes }) => sum + bytes.length, 3))
  })

  test('gives each block once, after those that it links to, and the root last', () => {
    const entries = [...manyFiles(6000, 'big/'), folder('a'), folder('b/c'), symlink('b/d', 'x'), symlink('e', 'x')]
    const { root, blocks } = buildDirectory({ entries, sha256 })
    const files = new Set(entries.flatMap((entry) => (entry.kind === 'file' ? [entry.cid.toString()] : [])))
    const seen = new Set<string>()
    for (const { cid, bytes } of blocks) {
      const read = linksOf(cid.code, bytes)
      for (const link of 'links' in read ? read.links.map(String) : [])
        expect(seen.has(link) || files.has(link)).toBe(true)
      expect(seen.has(cid.toString())).toBe(false)
      seen.add(cid.toString())
    }
    expect(blocks.at(-1)?.cid).toEqual(root)
  })

  test('makes an empty directory of no entries, and of folders on the way without an entry', () => {
    expect(buildDirectory({ entries: [], sha256 }).root.toString()).toBe(EMPTY)
    const named = [fileEntry('a/b/c'), folder('a'), folder('a/b')]
    expect(buildDirectory({ entries: named, sha256 }).root).toEqual(
      buildDirectory({ entries: [fileEntry('a/b/c')], sha256 }).root,
    )
  })

  test('orders names by the bytes of UTF-8, not by UTF-16', () => {
    const { store, root } = storedDirectory([fileEntry('\u{10000}'), fileEntry('\uffff'), fileEntry('a')])
    const block = store.blocks.find(({ cid }) => cid.equals(root))
    const text = new TextDecoder().decode(block?.bytes)
    expect(text.indexOf('\uffff')).toBeLessThan(text.indexOf('\u{10000}'))
  })

  test('error: a path that no file system could have', () => {
    expect(reasonOf(fileEntry(''))).toBe('A path is empty. Name the file or folder.')
    for (const path of ['/a', 'a/', 'a//b', '/'])
      expect(reasonOf(fileEntry(path))).toMatch(/begins or ends with a slash/)
    expect(reasonOf(fileEntry('a/./b'))).toBe('The path "a/./b" contains the name .. Send the path without it.')
    expect(reasonOf(fileEntry('a/..'))).toMatch(/contains the name \.\./)
    expect(reasonOf(fileEntry('a/\0'))).toBe('The path "a/\\u0000" contains a NUL character.')
    expect(reasonOf(fileEntry('a/\ud83d'))).toMatch(/half a surrogate pair/)
    expect(reasonOf(folder('\udc00x'))).toMatch(/half a surrogate pair/)
    expect(reasonOf(folder('\ufeffx'))).toMatch(/begins with a byte order mark/)
  })

  test('error: a name of more than 255 bytes', () => {
    const longest = 'ä'.repeat(127)
    expect(buildDirectory({ entries: [fileEntry(`${longest}x`)], sha256 }).fileCount).toBe(1)
    expect(reasonOf(fileEntry(`${longest}xy`))).toMatch(/has 256 bytes as UTF-8; the maximum is 255/)
  })

  test('error: a path of too many names', () => {
    const deepest = Array.from({ length: MAX_DIRECTORY_DEPTH }, () => 'a').join('/')
    expect(buildDirectory({ entries: [fileEntry(deepest)], sha256 }).fileCount).toBe(1)
    expect(reasonOf(fileEntry(`${deepest}/a`))).toMatch(/has more than 64 names/)
  })

  test('error: two entries of one path', () => {
    expect(reasonOf(fileEntry('a/b'), fileEntry('a/b'))).toBe('Two entries have the path "a/b". Send one.')
    expect(reasonOf(folder('a'), folder('a'))).toMatch(/Two entries/)
    expect(reasonOf(symlink('a', 'x'), fileEntry('a'))).toMatch(/Two entries/)
  })

  test('error: a folder and a file of one name', () => {
    const both = 'In the path "a/b", "a" is both a folder and a file. Rename one.'
    expect(reasonOf(fileEntry('a'), fileEntry('a/b'))).toBe(both)
    expect(reasonOf(fileEntry('a/b'), fileEntry('a'))).toMatch(/both a folder and a file/)
    expect(reasonOf(symlink('a', 'x'), folder('a'))).toMatch(/both a folder and a file/)
  })

  test('error: a symlink without a target, or with one that is too long', () => {
    expect(reasonOf(symlink('a', ''))).toBe('The target of the symlink "a" is empty.')
    expect(reasonOf(symlink('a', 'x'.repeat(4096)))).toMatch(/has 4096 bytes as UTF-8; the maximum is 4095/)
    expect(reasonOf(symlink('a', 'x\0'))).toMatch(/contains a NUL/)
    expect(buildDirectory({ entries: [symlink('a', 'x'.repeat(4095))], sha256 }).blocks).toHaveLength(2)
  })

  test('error: too many entries, and files of more bytes than can be counted', () => {
    const entry = fileEntry('x')
    const paths = function* () {
      for (let index = 0; ; index += 1) yield { ...entry, path: `${index}` }
    }
    expect(() => buildDirectory({ entries: paths(), sha256 })).toThrow(/more than 100,000 entries/)
    expect(MAX_DIRECTORY_ENTRIES).toBe(100_000)
    expect(reasonOf({ ...entry, dagBytes: 2 ** 53 - 1 })).toMatch(/more than 2\^53 bytes/)
  })

  test('error: names of one hash in a sharded folder', () => {
    // Found by inverting the hash, which is made to be fast and not to be hard to collide.
    const entries = [
      'one name of manywith other ends.',
      'other3cm4-------*<FZPRb\u001ci\u001e\u0019\u0017C\u0011\t\u000e',
    ].map((name) => fileEntry(name))
    expect(buildDirectory({ entries, sha256 }).fileCount).toBe(2)
    expect(reasonOf(...manyFiles(6000), ...entries)).toMatch(/have the same hash, so one large folder cannot have both/)
  })
})
