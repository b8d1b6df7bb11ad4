import { importer } from 'ipfs-unixfs-importer'
import { CID } from 'multiformats/cid'
import { cidOf, TestStore, utf8 } from '../car/testing-cars.ts'
import { sha256 } from '../testing-dag.ts'
import { type BuiltDirectory, buildDirectory } from './build-directory.ts'
import type { DirectoryEntry, FileEntry } from './directory-entry.ts'

/** A file of one raw block, whose bytes are `text`. */
export function fileEntry(path: string, text = path): FileEntry {
  const bytes = utf8(text)
  return { path, kind: 'file', cid: cidOf(0x55, bytes), dagBytes: bytes.length, sizeBytes: bytes.length }
}

/** Entries of a CID and a Tsize, as vectors have them. */
export function linkEntry({ path, cid, dagBytes }: { path: string; cid: string; dagBytes: number }): FileEntry {
  return { path, kind: 'file', cid: CID.parse(cid), dagBytes, sizeBytes: dagBytes }
}

/** A directory of these entries, and a store of its blocks. */
export function storedDirectory(entries: Iterable<DirectoryEntry>): BuiltDirectory & { readonly store: TestStore } {
  const built = buildDirectory({ entries, sha256 })
  const store = new TestStore()
  for (const block of built.blocks) store.put(block)
  return { ...built, store }
}

export const folder = (path: string): DirectoryEntry => ({ path, kind: 'folder' })
export const symlink = (path: string, target: string): DirectoryEntry => ({ path, kind: 'symlink', target })

/** As many files as it takes for a folder to be sharded, and more. */
export function manyFiles(count: number, prefix = ''): FileEntry[] {
  const { cid } = fileEntry('x')
  return Array.from({ length: count }, (_, index) => {
    return { path: `${prefix}a file with a long name ${index}.txt`, kind: 'file', cid, dagBytes: 1, sizeBytes: 1 }
  })
}

/** What is at a path of a tree for the reference importer: the bytes of a file, the target of a symlink, or an empty folder. */
export type TreeContent = Uint8Array | string | undefined
export type Tree = ReadonlyMap<string, TreeContent>

/** The root that `ipfs-unixfs-importer` makes of a tree, and the entries that it makes of its files. */
export async function importTree(tree: Tree): Promise<{ readonly root: string; readonly entries: DirectoryEntry[] }> {
  // The importer loses entries of a folder that it comes back to after a folder around it was sharded.
  const paths = [...tree.keys()].sort(byNames)
  const candidates = paths.map((path) => {
    const content = tree.get(path)
    if (content === undefined) return { path }
    return typeof content === 'string' ? { path, link: content } : { path, content }
  })
  const store = { put: async (cid: CID) => cid }
  const entries: DirectoryEntry[] = []
  let root = ''
  for await (const { cid, path, size, unixfs } of importer(candidates as Parameters<typeof importer>[0], store, {
    profile: 'unixfs-v1-2025',
    wrapWithDirectory: true,
  })) {
    root = cid.toString()
    if (unixfs?.isDirectory() === true || path === undefined) continue
    const content = tree.get(path)
    entries.push(
      typeof content === 'string'
        ? symlink(path, content)
        : { path, kind: 'file', cid, dagBytes: Number(size), sizeBytes: content?.length ?? 0 },
    )
  }
  for (const [path, content] of tree) if (content === undefined) entries.push(folder(path))
  return { root, entries }
}

function byNames(a: string, b: string): number {
  const [one, other] = [a.split('/'), b.split('/')]
  const at = one.findIndex((name, index) => name !== other[index])
  return (one[at] ?? '') < (other[at] ?? '') ? -1 : 1
}
