import type { CID } from 'multiformats/cid'
import { LadeError } from '../../errors/lade-error.ts'
import { type BlockReader, readerOf } from '../car/block-reader.ts'
import { DagReadError } from '../car/dag-read-error.ts'
import { linkAt } from '../car/link-list.ts'
import type { GetBlock } from '../car/load-block.ts'
import { type PackedDirectory, type PackedShard, textAt } from '../car/packed-node.ts'
import { levelsOf } from '../car/shard-bucket.ts'
import { RAW } from '../links.ts'
import { refusal } from './entry-path.ts'

/** Which entries are listed. */
export interface DirectoryListing {
  /** The directory itself; `resolvePath` finds one inside of another. */
  readonly root: CID
  readonly getBlock: GetBlock | BlockReader
  /** `nextCursor` of the page before; undefined for the first page. */
  readonly cursor?: string | undefined
  /** The most entries of the page, at least 1. */
  readonly limit: number
}

/** Some entries of a directory. */
export interface DirectoryPage {
  /** In the order of the blocks: by name, or in a sharded directory by the hash of the name. */
  readonly entries: readonly ListedEntry[]
  /** Where the next page begins; undefined on the last page. */
  readonly nextCursor: string | undefined
}

/** An entry, as far as the directory tells. */
export interface ListedEntry {
  readonly name: string
  readonly cid: CID
  /** `file` for a raw block; undefined for all others, whose blocks tell what they are. */
  readonly kind: 'file' | undefined
  /** The Tsize: the bytes of all blocks of the entry, as the writer of the directory announces; undefined where it does not. */
  readonly dagBytes: number | undefined
}

const MAX_CURSOR_CHARACTERS = 100
const CURSOR = /^\d+(?:\.\d+)*$/

/**
 * Lists a UnixFS directory, sharded or not, page by page.
 *
 * All pages together have each link of the directory once. A cursor stays valid for its root. A page reads the root, the shards above the
 * cursor and the shards of its entries. Memory is the entries and one path of shards.
 *
 * @throws {LadeError} `bad_request` for a root that is no directory, `invalid_cursor`.
 * @throws {DagReadError} `missing`, `undecodable`, `excessive`, `unsupported`, and `inconsistent` for shards that are none, or lead to
 *   too few entries.
 *
 * @example
 * const { entries, nextCursor } = await listDirectory({ root, getBlock, limit: 100 })
 * entries[0] // { name: 'hello.txt', cid: CID(bafkrei…), kind: 'file', dagBytes: 11 }
 */
export async function listDirectory({ root, getBlock, cursor, limit }: DirectoryListing): Promise<DirectoryPage> {
  if (!Number.isSafeInteger(limit) || limit < 1) throw new TypeError(`${limit} is not a number of entries`)
  const reader = readerOf(getBlock)
  await reader.follow()
  const { answer: node } = await reader.read(root, { ask: 'node' })
  if (node.kind === 'fault') throw new DagReadError(node.of === 'block' ? 'undecodable' : 'inconsistent', root)
  if (node.kind !== 'directory' && node.kind !== 'hamt') throw refusal(`The block ${root} is not a UnixFS directory.`)
  const places = placesOf(cursor)
  return node.kind === 'directory'
    ? listPlain(node, places, limit)
    : new ShardLister(reader, node).list(root, places, limit)
}

function listPlain(node: PackedDirectory, places: readonly number[], limit: number): DirectoryPage {
  const [start = 0, ...others] = places
  const count = node.links.ends.length
  if (others.length > 0 || (start > 0 && start >= count)) throw new LadeError('invalid_cursor', {})
  const end = Math.min(start + limit, count)
  const entries = Array.from({ length: end - start }, (_, index) => entryAt(node, start + index, 0))
  return { entries, nextCursor: end < count ? String(end) : undefined }
}

/** A shard, and the place of its next link. */
interface OpenShard {
  readonly node: PackedShard
  next: number
}

class ShardLister {
  readonly #reader: BlockReader
  readonly #root: PackedShard
  /** The shards from the root to the one that is being listed. */
  readonly #path: OpenShard[] = []
  readonly #entries: ListedEntry[] = []
  #shardCount = 0

  constructor(reader: BlockReader, root: PackedShard) {
    this.#reader = reader
    this.#root = root
  }

  async list(root: CID, places: readonly number[], limit: number): Promise<DirectoryPage> {
    this.#push(root, this.#root)
    await this.#goTo(places)
    const { fanout } = this.#root
    const digits = (fanout - 1).toString(16).length
    for (let shard = this.#last(); shard !== undefined && this.#entries.length < limit; shard = this.#last()) {
      const { node, next } = shard
      shard.next += 1
      if (node.isShard[next] === 1) await this.#enter(node, next)
      else this.#entries.push(entryAt(node, next, digits))
    }
    const isDone = this.#last() === undefined
    // A place is that of the link which is open, and in the last shard that of the next one.
    const cursor = this.#path.map(({ next }, index) => (index < this.#path.length - 1 ? next - 1 : next)).join('.')
    return { entries: this.#entries, nextCursor: isDone ? undefined : cursor }
  }

  /** Opens the shards that a cursor names. */
  async #goTo(places: readonly number[]): Promise<void> {
    for (const [index, place] of places.entries()) {
      const shard = this.#path[index]
      if (shard === undefined || place >= shard.node.links.ends.length) throw new LadeError('invalid_cursor', {})
      const isLast = index === places.length - 1
      shard.next = isLast ? place : place + 1
      if (isLast) return
      if (shard.node.isShard[place] !== 1) throw new LadeError('invalid_cursor', {})
      await this.#enter(shard.node, place)
    }
  }

  /** The last shard that has links left. */
  #last(): OpenShard | undefined {
    for (let last = this.#path.at(-1); last !== undefined; last = this.#path.at(-1)) {
      if (last.next < last.node.links.ends.length) return last
      this.#path.pop()
    }
    return undefined
  }

  async #enter(parent: PackedShard, place: number): Promise<void> {
    const cid = linkAt(parent.links, place)
    const levels = levelsOf(this.#root.fanout)
    this.#shardCount += 1
    // Shards that lead to no entries would make a page of any length, and those that name themselves one without an end.
    const isTooMany = this.#shardCount > levels * (this.#entries.length + 1)
    if (isTooMany || this.#path.length >= levels) throw new DagReadError('inconsistent', cid)
    await this.#reader.follow()
    const { answer: node } = await this.#reader.read(cid, { ask: 'node' })
    if (node.kind !== 'hamt' || node.fanout !== this.#root.fanout) throw new DagReadError('inconsistent', cid)
    this.#push(cid, node)
  }

  #push(cid: CID, node: PackedShard): void {
    if (node.links.ends.length > node.fanout) throw new DagReadError('inconsistent', cid)
    this.#path.push({ node, next: 0 })
  }
}

/** @param digits - the characters of the bucket before the name. */
function entryAt(node: PackedDirectory | PackedShard, place: number, digits: number): ListedEntry {
  const cid = linkAt(node.links, place)
  const dagBytes = node.dagSizes[place] ?? Number.NaN
  return {
    name: textAt(node.names, place).slice(digits),
    cid,
    kind: cid.code === RAW ? 'file' : undefined,
    dagBytes: Number.isNaN(dagBytes) ? undefined : dagBytes,
  }
}

function placesOf(cursor: string | undefined): readonly number[] {
  if (cursor === undefined) return []
  if (cursor.length > MAX_CURSOR_CHARACTERS || !CURSOR.test(cursor)) throw new LadeError('invalid_cursor', {})
  return cursor.split('.').map(Number)
}
