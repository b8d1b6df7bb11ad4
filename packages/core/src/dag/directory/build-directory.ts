import type { CID } from 'multiformats/cid'
import type { Block } from '../car/load-block.ts'
import type { Sha256 } from '../sha256.ts'
import { BlockList } from './block-list.ts'
import type { DirectoryEntry, FileEntry } from './directory-entry.ts'
import { MAX_DIRECTORY_ENTRIES } from './directory-limits.ts'
import { type DagRoot, directoryLink } from './directory-link.ts'
import { encodeSymlink } from './encode-directory.ts'
import { encodeEntries } from './encode-entries.ts'
import { checkTarget, namesOf, refusal, shown } from './entry-path.ts'

/** What a directory is made of. */
export interface DirectoryBuild {
  /** In any order. The root itself has no entry; without entries it is an empty directory. */
  readonly entries: Iterable<DirectoryEntry>
  readonly sha256: Sha256
}

/** A directory, and the blocks that are made for it. */
export interface BuiltDirectory {
  readonly root: CID
  /** The bytes of all blocks below the root and of itself: its Tsize. A block counts as often as it is linked to. */
  readonly dagBytes: number
  readonly fileCount: number
  /** The sizes of all files together. */
  readonly sizeBytes: number
  /** The blocks of directories and symlinks, each once, and after those that it links to. The root is the last. */
  readonly blocks: readonly Block[]
}

/** A folder that is filled from paths. */
interface Folder {
  readonly children: Map<string, FileEntry | string | Folder>
  /** True when an entry names it; a second one is refused. */
  hasEntry: boolean
}

/**
 * The UnixFS directory of a tree of entries, as the import profile `unixfs-v1-2025` makes it: the root is that of
 * `ipfs add --recursive --hidden` of Kubo with that profile.
 *
 * A directory is sharded where its block would have more than 262,144 bytes. Entries are neither left out nor renamed; names that differ in
 * their Unicode normalization are different names.
 *
 * @throws {LadeError} `bad_request` for paths that are malformed, two entries of one path, a folder and a file of one name, a
 *   symlink without a target, and more than `MAX_DIRECTORY_ENTRIES` entries.
 * @see https://specs.ipfs.tech/ipips/ipip-0499/
 *
 * @example
 * const { root, dagBytes } = buildDirectory({
 *   entries: [{ path: 'docs/hello.txt', kind: 'file', cid, dagBytes: 11, sizeBytes: 11 }],
 *   sha256,
 * })
 * dagBytes // 120: the file, the block of docs and that of the root
 */
export function buildDirectory({ entries, sha256 }: DirectoryBuild): BuiltDirectory {
  const root: Folder = { children: new Map(), hasEntry: true }
  let entryCount = 0
  let fileCount = 0
  let sizeBytes = 0
  for (const entry of entries) {
    entryCount += 1
    if (entryCount > MAX_DIRECTORY_ENTRIES) {
      throw refusal(`There are more than ${MAX_DIRECTORY_ENTRIES.toLocaleString('en-US')} entries.`)
    }
    addEntry(root, entry)
    if (entry.kind !== 'file') continue
    fileCount += 1
    sizeBytes += entry.sizeBytes
  }
  const made = new BlockList(sha256)
  const { cid, dagBytes } = encodeFolder(root, made)
  return { root: cid, dagBytes, fileCount, sizeBytes, blocks: made.blocks }
}

function addEntry(root: Folder, entry: DirectoryEntry): void {
  const names = namesOf(entry.path)
  const name = names.pop() ?? ''
  let folder = root
  for (const parent of names) folder = folderIn(folder, parent, entry.path)
  if (entry.kind === 'folder') {
    const own = folderIn(folder, name, entry.path)
    if (own.hasEntry) throw refusal(`Two entries have the path ${shown(entry.path)}. Send one.`)
    own.hasEntry = true
    return
  }
  const other = folder.children.get(name)
  if (other !== undefined) {
    throw isFolder(other)
      ? folderAndFile(entry.path, name)
      : refusal(`Two entries have the path ${shown(entry.path)}. Send one.`)
  }
  if (entry.kind === 'symlink') checkTarget(entry.target, entry.path)
  folder.children.set(name, entry.kind === 'symlink' ? entry.target : entry)
}

function folderIn(parent: Folder, name: string, path: string): Folder {
  const child = parent.children.get(name)
  if (child === undefined) {
    const folder = { children: new Map(), hasEntry: false }
    parent.children.set(name, folder)
    return folder
  }
  if (!isFolder(child)) throw folderAndFile(path, name)
  return child
}

function encodeFolder({ children }: Folder, made: BlockList): DagRoot {
  const links = Array.from(children, ([name, child]) => directoryLink(name, rootOf(child, made)))
  return encodeEntries(links, made)
}

function rootOf(child: FileEntry | string | Folder, made: BlockList): DagRoot {
  if (typeof child === 'string') return made.add(encodeSymlink(child), [])
  return isFolder(child) ? encodeFolder(child, made) : child
}

function isFolder(child: FileEntry | string | Folder): child is Folder {
  return typeof child === 'object' && 'children' in child
}

function folderAndFile(path: string, name: string): Error {
  return refusal(`In the path ${shown(path)}, ${shown(name)} is both a folder and a file. Rename one.`)
}
