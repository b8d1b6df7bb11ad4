import type { CID } from 'multiformats/cid'
import { LadeError } from '../../errors/lade-error.ts'
import { type BlockReader, readerOf } from '../car/block-reader.ts'
import { DagReadError } from '../car/dag-read-error.ts'
import type { Block, GetBlock } from '../car/load-block.ts'
import { DAG_PB } from '../links.ts'
import type { Sha256 } from '../sha256.ts'
import { BlockList } from './block-list.ts'
import type { DirectoryEntry } from './directory-entry.ts'
import { MAX_DIRECTORY_ENTRIES } from './directory-limits.ts'
import type { DagRoot, DirectoryLink } from './directory-link.ts'
import { checkTarget, namesOf, refusal, shown } from './entry-path.ts'
import { DirectoryBlocks, OpenFolder } from './open-folder.ts'

/** One change of a directory. */
export type DirectoryChange =
  /** Puts a file or symlink, in place of another one, or makes a folder if it is not there. Missing parent folders are made. */
  | { readonly put: DirectoryEntry }
  /** Removes what is at a path, with all that is below it. The folder that it was in stays, also when it is empty. */
  | { readonly remove: string }

/** What is to change, and where. */
export interface DirectoryChangeRequest {
  readonly root: CID
  /** Made one after the other: to put a file in place of a folder, remove the folder before. */
  readonly changes: Iterable<DirectoryChange>
  /** Finds the blocks of directories. Those of files are asked for only to see whether they are directories. */
  readonly getBlock: GetBlock | BlockReader
  readonly sha256: Sha256
}

/** A directory after its changes. */
export interface ChangedDirectory {
  readonly root: CID
  /** The Tsize of the root: its own bytes, and what its links announce. */
  readonly dagBytes: number
  /** The blocks that the directory did not have, each once, and after those that it links to. The root is the last, if it is new. */
  readonly blocks: readonly Block[]
  /** The roots that entries led to that were removed, or that others took the place of, as they were before. */
  readonly removed: readonly DagRoot[]
}

/**
 * Changes a UnixFS directory: the result is the directory that `buildDirectory` makes of the entries after the changes.
 *
 * Reads only the blocks on the paths that change. If a sharded directory gets smaller, it also reads shards until it has counted 262,144 bytes
 * of links, because a directory with fewer is not sharded: up to about 80 shards. Memory is these blocks and the new ones.
 *
 * The guarantee holds for directories of the import profile `unixfs-v1-2025`. A directory block of another form is refused if rewriting it could
 * lose something, such as a mode, a time or a name that is not UTF-8. Other directories get the form of the profile where they change.
 *
 * @throws {LadeError} `bad_request` for a change that cannot be made: a malformed path, a file that is used as a folder, or a folder that a
 *   file would replace; a block that is no directory, or in another form. `not_found` for a block that is not stored, and for a path to
 *   remove that is not there.
 * @throws what `getBlock` throws.
 *
 * @example
 * const { root, blocks } = await changeDirectory({ root: empty, changes: [{ remove: 'a.txt' }], getBlock, sha256 })
 * // LadeError: There is no "a.txt" in the directory.
 */
export async function changeDirectory({
  root,
  changes,
  getBlock,
  sha256,
}: DirectoryChangeRequest): Promise<ChangedDirectory> {
  const reader = readerOf(getBlock)
  const blocks = new DirectoryBlocks(reader, new BlockList(sha256))
  try {
    const folder = await blocks.open(root)
    if (folder === undefined) throw refusal(`The block ${root} is not a UnixFS directory.`)
    const changer = new DirectoryChanger(folder, { blocks, reader })
    let changeCount = 0
    for (const change of changes) {
      changeCount += 1
      if (changeCount > MAX_DIRECTORY_ENTRIES) {
        throw refusal(
          `There are more than ${MAX_DIRECTORY_ENTRIES.toLocaleString('en-US')} changes. Send several requests.`,
        )
      }
      if ('put' in change) await changer.put(change.put)
      else await changer.remove(change.remove)
    }
    const { cid, dagBytes } = await folder.close()
    return { root: cid, dagBytes, blocks: blocks.made.blocks, removed: changer.removed }
  } catch (error) {
    throw error instanceof DagReadError ? refusedBlock(error) : error
  }
}

interface ChangerDeps {
  readonly blocks: DirectoryBlocks
  readonly reader: BlockReader
}

class DirectoryChanger {
  readonly removed: DagRoot[] = []
  readonly #root: OpenFolder
  readonly #blocks: DirectoryBlocks
  readonly #reader: BlockReader

  constructor(root: OpenFolder, { blocks, reader }: ChangerDeps) {
    this.#root = root
    this.#blocks = blocks
    this.#reader = reader
  }

  async put(entry: DirectoryEntry): Promise<void> {
    const names = namesOf(entry.path)
    const name = names.pop() ?? ''
    let folder = this.#root
    for (const parent of names) folder = await this.#folderIn(folder, parent, entry.path)
    if (entry.kind === 'folder') {
      await this.#folderIn(folder, name, entry.path)
      return
    }
    if (entry.kind === 'symlink') checkTarget(entry.target, entry.path)
    if (await this.#isFolder(folder, name)) {
      throw refusal(`There is a folder at ${shown(entry.path)}. Remove it before you put a file there.`)
    }
    await this.#noteRemoved(folder, name)
    if (entry.kind === 'symlink') folder.putSymlink(name, entry.target)
    else await folder.put(name, entry)
  }

  async remove(path: string): Promise<void> {
    const names = namesOf(path)
    const name = names.pop() ?? ''
    let folder: OpenFolder | undefined = this.#root
    for (const parent of names) {
      folder = await this.#openFolder(folder, parent)
      if (folder === undefined) throw notThere(path)
    }
    await this.#noteRemoved(folder, name)
    if (!(await folder.remove(name))) throw notThere(path)
  }

  async #noteRemoved(folder: OpenFolder, name: string): Promise<void> {
    const found = await folder.find(name)
    const root = found instanceof OpenFolder ? found.root : found
    if (typeof root === 'object') this.removed.push({ cid: root.cid, dagBytes: root.dagBytes })
  }

  /** The folder of this name, which is made if there is no entry. */
  async #folderIn(parent: OpenFolder, name: string, path: string): Promise<OpenFolder> {
    const folder = await this.#openFolder(parent, name)
    if (folder !== undefined) return folder
    if ((await parent.find(name)) !== undefined) {
      throw refusal(`In the path ${shown(path)}, ${shown(name)} is a file. Remove it before you put a folder there.`)
    }
    const made = this.#blocks.create()
    parent.hold(name, made)
    return made
  }

  async #openFolder(parent: OpenFolder, name: string): Promise<OpenFolder | undefined> {
    const found = await parent.find(name)
    if (found instanceof OpenFolder) return found
    const folder = isDagPb(found) ? await this.#blocks.open(found.cid) : undefined
    if (folder !== undefined) parent.hold(name, folder)
    return folder
  }

  async #isFolder(parent: OpenFolder, name: string): Promise<boolean> {
    const found = await parent.find(name)
    if (!isDagPb(found)) return found instanceof OpenFolder
    const { answer } = await this.#reader.read(found.cid, { ask: 'node' })
    return answer.kind === 'directory' || answer.kind === 'hamt'
  }
}

/** Only what is dag-pb can be a folder. */
function isDagPb(found: OpenFolder | string | DirectoryLink | undefined): found is DirectoryLink {
  return typeof found === 'object' && 'cid' in found && found.cid.code === DAG_PB
}

function notThere(path: string): Error {
  return new LadeError('not_found', { reason: `There is no ${shown(path)} in the directory.` })
}

function refusedBlock(error: DagReadError): Error {
  if (error.fault === 'missing') return new LadeError('not_found', { reason: error.message }, { cause: error })
  return refusal(`${error.message} The directory cannot be changed.`, { cause: error })
}
