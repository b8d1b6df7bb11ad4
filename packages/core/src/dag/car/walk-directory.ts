import type { CID } from 'multiformats/cid'
import { type BlockReader, readerOf } from './block-reader.ts'
import { DagReadError } from './dag-read-error.ts'
import { linkAt } from './link-list.ts'
import type { GetBlock } from './load-block.ts'
import { OpenBlocks } from './open-blocks.ts'
import { nodeBytes, type PackedDirectory, type PackedShard, placeOfText, textAt } from './packed-node.ts'
import { bucketAt as bucketOfHash, bucketText, hashOfName, levelsOf, MURMUR3_X64_64 } from './shard-bucket.ts'

/** A name in a directory, and what it leads to. */
export interface DirectoryEntry {
  readonly name: string
  readonly cid: CID
  /** Of all blocks below it, as the writer of the directory says; undefined where he does not. */
  readonly dagBytes: number | undefined
}

/** Which directory is listed, and from where. */
export interface DirectoryWalk {
  readonly root: CID
  /** Finds the blocks, which are then read at once, or also reads them. */
  readonly getBlock: GetBlock | BlockReader
  /** The name behind which the list goes on. @default from the beginning */
  readonly after?: string | undefined
}

/** A directory, or a part of one, with a block of its own. */
export type DirectoryNode = PackedDirectory | PackedShard

/**
 * The entries of a UnixFS directory in the order in which it has them: of a sharded one, that of the hashes of the names.
 *
 * What the entries lead to is not read. With `after`, only the blocks are read that have entries behind that name, and those above
 * them. A name that a directory in one block does not have is followed by nothing.
 *
 * Memory is the shards on the way to the current entry, of which 1 MiB is held.
 *
 * @throws {DagReadError} from the generator: `missing`, `undecodable`, `unsupported` for `after` with names that are hashed otherwise,
 *   and `inconsistent` for what is no directory, or has shards that are none.
 *
 * @example
 * for await (const { name, dagBytes } of walkDirectory({ root, getBlock, after: 'm.txt' })) print(name, dagBytes)
 */
export async function* walkDirectory({
  root,
  getBlock,
  after,
}: DirectoryWalk): AsyncGenerator<DirectoryEntry, void, undefined> {
  const reader = readerOf(getBlock)
  const open = new OpenBlocks<DirectoryNode>((cid) => readDirectory(reader, cid))
  let seeking = after === undefined ? undefined : { name: after, level: 0 }
  const push = async (cid: CID, fanout?: number): Promise<void> => {
    const node = await readDirectory(reader, cid, fanout)
    const next = seeking === undefined ? 0 : placeBehind(cid, node, seeking)
    open.push({ cid, content: node, sizeBytes: nodeBytes(node), count: node.links.ends.length, next, offset: 0 })
  }
  await push(root)
  while (true) {
    const last = await open.last()
    if (last === undefined) return
    const { content: node, block } = last
    const place = block.next
    block.next += 1
    await reader.follow()
    const link = linkAt(node.links, place)
    if (isShardAt(node, place)) {
      const isOnTheWay = seeking !== undefined && bucketAt(node, place) === bucketOf(seeking, node)
      seeking = isOnTheWay && seeking !== undefined ? { ...seeking, level: seeking.level + 1 } : undefined
      await push(link, node.kind === 'hamt' ? node.fanout : undefined)
      continue
    }
    const name = nameAt(node, place)
    const isTheLastOne = seeking?.name === name
    seeking = undefined
    if (!isTheLastOne) yield { name, cid: link, dagBytes: sizeAt(node, place) }
  }
}

/** The node of a directory. @param fanout - of the shard above it. @throws {DagReadError} as `walkDirectory`. */
export async function readDirectory(reader: BlockReader, cid: CID, fanout?: number): Promise<DirectoryNode> {
  const { answer: node } = await reader.read(cid, { ask: 'node' })
  if (node.kind === 'fault' && node.of === 'block') throw new DagReadError('undecodable', cid)
  const isDirectory = node.kind === 'hamt' || (node.kind === 'directory' && fanout === undefined)
  if (!isDirectory || (fanout !== undefined && node.kind === 'hamt' && node.fanout !== fanout)) {
    throw new DagReadError('inconsistent', cid)
  }
  return node
}

/** The name of an entry. */
export function nameAt(node: DirectoryNode, place: number): string {
  const text = textAt(node.names, place)
  return node.kind === 'hamt' ? text.slice(digitsOf(node)) : text
}

/** True for a link to the next shard. */
export function isShardAt(node: DirectoryNode, place: number): boolean {
  return node.kind === 'hamt' && node.isShard[place] === 1
}

function sizeAt({ dagSizes }: DirectoryNode, place: number): number | undefined {
  const size = dagSizes[place] ?? Number.NaN
  return Number.isNaN(size) ? undefined : size
}

interface Seeking {
  readonly name: string
  /** How many shards have been gone down. */
  readonly level: number
}

/** The first place that may have an entry behind the name. */
function placeBehind(cid: CID, node: DirectoryNode, seeking: Seeking): number {
  const count = node.links.ends.length
  if (node.kind === 'directory') {
    const place = placeOfText(node.names, [seeking.name])
    return place === undefined ? count : place + 1
  }
  if (node.hashCode !== MURMUR3_X64_64) throw new DagReadError('unsupported', cid)
  const bucket = bucketOf(seeking, node)
  if (bucket === undefined) return count
  for (let place = 0; place < count; place += 1) if (bucketAt(node, place) >= bucket) return place
  return count
}

/** The bucket of the name in this shard; undefined when the hash has no bits left for it. */
function bucketOf({ name, level }: Seeking, node: DirectoryNode): string | undefined {
  if (node.kind !== 'hamt' || level >= levelsOf(node.fanout)) return undefined
  return bucketText(bucketOfHash(hashOfName(name), node.fanout, level), node.fanout)
}

function bucketAt(node: DirectoryNode, place: number): string {
  return node.kind === 'hamt' ? textAt(node.names, place).slice(0, digitsOf(node)) : ''
}

function digitsOf({ fanout }: PackedShard): number {
  return (fanout - 1).toString(16).length
}
