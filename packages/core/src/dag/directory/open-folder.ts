import type { CID } from 'multiformats/cid'
import type { BlockReader } from '../car/block-reader.ts'
import { hashOfName } from '../car/shard-bucket.ts'
import type { BlockList } from './block-list.ts'
import { type DagRoot, type DirectoryLink, directoryLink } from './directory-link.ts'
import { EMPTY_DIRECTORY_BYTES, encodeSymlink, linkBytes } from './encode-directory.ts'
import { encodeEntries, SHARDING_THRESHOLD_BYTES } from './encode-entries.ts'
import { readDirectory, readShard } from './read-directory.ts'
import { placedLink, type ReadShard, type ShardTrie, type UnreadShard } from './shard-trie.ts'

/** The least that a shard adds to the block of its directory: the links of two entries, each with a CID of 4 bytes. */
const MIN_SHARD_BYTES = 26

/** Reads the blocks of a directory that changes, and notes them in the list of those that need not be made. */
export class DirectoryBlocks {
  readonly made: BlockList
  readonly #reader: BlockReader

  constructor(reader: BlockReader, made: BlockList) {
    this.#reader = reader
    this.made = made
  }

  readonly readShard: ReadShard = async ({ cid }, place) => readShard(cid, await this.#load(cid), place)

  /** The folder of a root; undefined where that is no directory. */
  async open(cid: CID): Promise<OpenFolder | undefined> {
    const bytes = await this.#load(cid)
    const read = readDirectory(cid, bytes)
    if (read === undefined) return undefined
    const root = { cid, dagBytes: read.dagBytes }
    if (read.kind === 'sharded') return new OpenFolder(this, { root, entries: read.trie })
    const entries = new Map<string, DirectoryLink>()
    // "Writers MUST drop the redundant entries and only keep the first occurrence of each name."
    for (const link of read.links) if (!entries.has(link.name)) entries.set(link.name, link)
    return new OpenFolder(this, { root, entries })
  }

  /** A folder that is not there yet. */
  create(): OpenFolder {
    return new OpenFolder(this, { root: undefined, entries: new Map() })
  }

  async #load(cid: CID): Promise<Uint8Array> {
    await this.#reader.follow()
    const { bytes } = await this.#reader.load(cid)
    this.made.leaveOut(cid)
    return bytes
  }
}

/** What a folder was read as; a new one has no root. */
interface FolderOrigin {
  readonly root: DagRoot | undefined
  readonly entries: Map<string, DirectoryLink> | ShardTrie
}

/** A folder of a directory that changes. Its blocks are read as far as its entries are asked for. */
export class OpenFolder {
  readonly root: DagRoot | undefined
  readonly #blocks: DirectoryBlocks
  readonly #entries: Map<string, DirectoryLink> | ShardTrie
  /** Folders in it that are open, and targets of symlinks: what becomes a link when it is closed. */
  readonly #pending = new Map<string, OpenFolder | string>()
  #isChanged: boolean
  /** What the changes add to the bytes of all links. */
  #growthBytes = 0

  constructor(blocks: DirectoryBlocks, { root, entries }: FolderOrigin) {
    this.#blocks = blocks
    this.root = root
    this.#entries = entries
    this.#isChanged = root === undefined
  }

  /** An open folder, the target of a new symlink, or the link of an entry. */
  async find(name: string): Promise<OpenFolder | string | DirectoryLink | undefined> {
    return this.#pending.get(name) ?? (await this.#link(name))
  }

  /** Holds a folder open that was found by this name, or adds a new one. */
  hold(name: string, folder: OpenFolder): void {
    this.#pending.set(name, folder)
    if (folder.root === undefined) this.#isChanged = true
  }

  /** Puts a symlink in place of the entry of this name. */
  putSymlink(name: string, target: string): void {
    this.#pending.set(name, target)
    this.#isChanged = true
  }

  /** Puts an entry in place of the one of this name. */
  async put(name: string, root: DagRoot): Promise<void> {
    const before = await this.#link(name)
    const link = directoryLink(name, root)
    this.#pending.delete(name)
    this.#growthBytes += linkBytes(link) - (before === undefined ? 0 : linkBytes(before))
    this.#isChanged = true
    if (this.#entries instanceof Map) this.#entries.set(name, link)
    else this.#entries.put(placedLink(link))
  }

  /** @returns false when there is no such entry. */
  async remove(name: string): Promise<boolean> {
    const before = await this.#link(name)
    const wasPending = this.#pending.delete(name)
    if (before === undefined) return wasPending
    this.#growthBytes -= linkBytes(before)
    this.#isChanged = true
    if (this.#entries instanceof Map) this.#entries.delete(name)
    else this.#entries.remove(name, hashOfName(name))
    return true
  }

  /** Makes the blocks of what has changed in it and below. It is not to be used afterwards. */
  async close(): Promise<DagRoot> {
    const { made } = this.#blocks
    for (const [name, pending] of this.#pending) {
      const before = await this.#link(name)
      if (before !== undefined) made.leaveOut(before.cid)
      const root = typeof pending === 'string' ? made.add(encodeSymlink(pending), []) : await pending.close()
      if (typeof pending === 'string' || root !== pending.root) await this.put(name, root)
    }
    if (!this.#isChanged && this.root !== undefined) return this.root
    if (this.#entries instanceof Map) return encodeEntries([...this.#entries.values()], made)
    const few = await this.#fewLinks(this.#entries)
    return few === undefined ? this.#entries.encode(made) : encodeEntries(few, made)
  }

  async #link(name: string): Promise<DirectoryLink | undefined> {
    if (this.#entries instanceof Map) return this.#entries.get(name)
    const hash = hashOfName(name)
    await this.#entries.open(hash, this.#blocks.readShard)
    return this.#entries.get(name, hash)
  }

  /** All links of a sharded folder that is to be sharded no more. */
  async #fewLinks(trie: ShardTrie): Promise<readonly DirectoryLink[] | undefined> {
    // It was above the threshold.
    if (this.#growthBytes >= 0) return undefined
    const links: DirectoryLink[] = []
    const unread: UnreadShard[] = []
    let leastBytes = EMPTY_DIRECTORY_BYTES
    const count = (shard: ShardTrie) => {
      for (const link of shard.links()) {
        links.push(link)
        leastBytes += linkBytes(link)
      }
      for (const below of shard.unreadShards()) {
        unread.push(below)
        leastBytes += MIN_SHARD_BYTES
      }
    }
    count(trie)
    // Level by level, since the upper shards have most of the entries.
    for (const { shard, place } of unread) {
      if (leastBytes > SHARDING_THRESHOLD_BYTES) return undefined
      leastBytes -= MIN_SHARD_BYTES
      count(await this.#blocks.readShard(shard, place))
    }
    return leastBytes > SHARDING_THRESHOLD_BYTES ? undefined : links
  }
}
