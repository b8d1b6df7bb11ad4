import { CID } from 'multiformats/cid'
import { DAG_CBOR, DAG_JSON, inlineBytes } from '../links.ts'
import { type BlockReader, readerOf } from './block-reader.ts'
import { DagReadError } from './dag-read-error.ts'
import { linkAt } from './link-list.ts'
import type { GetBlock } from './load-block.ts'
import { type PackedShard, placeOfText } from './packed-node.ts'
import { bucketAt, bucketText, hashOfName, levelsOf, MURMUR3_X64_64 } from './shard-bucket.ts'

/** Where a path leads, and the blocks by which it gets there. */
export interface ResolvedPath {
  /**
   * The blocks that prove the path, from the root to the last one before the end, shards of directories among them and
   * identity blocks not. A CAR for the path is these, then the walk from `terminal`. Their bytes are not held.
   */
  readonly path: readonly CID[]
  /**
   * The root, and behind it what each segment leads to, as far as there is something: shards of directories are not among them, and segments
   * inside of a dag-cbor or dag-json block have none of their own.
   */
  readonly roots: readonly CID[]
  /** What the path ends at; undefined when `missingSegment` says why it does not. */
  readonly terminal: CID | undefined
  /** The segments that lead to a value inside the terminal block; only of dag-cbor and dag-json, else empty. */
  readonly remainder: readonly string[]
  /** The first segment that is not there; undefined when the path has an end. */
  readonly missingSegment: string | undefined
}

/** One step: to the next block with the rest of the path, or to no further. */
type Step =
  | { readonly next: CID; readonly rest: readonly string[]; readonly through: readonly CID[] }
  | { readonly isInside: true }
  | { readonly missing: string; readonly through: readonly CID[] }

/**
 * Follows a path from a root: names of UnixFS directories, also sharded ones, and keys and indices of dag-cbor and
 * dag-json, in which a path goes on inside of a block until it meets a link.
 *
 * Of names that a directory has twice, the first counts. Symbolic links are not followed. `.` and `..` have no meaning
 * here: whoever takes a path from a URL has resolved them.
 *
 * @param segments - as they are named, with no percent-encoding left.
 * @throws {DagReadError} `missing`, `undecodable`, and `inconsistent` for a directory whose shards are none.
 *
 * @example
 * const { path, terminal } = await resolvePath(root, ['dir', 'ascii.txt'], getBlock)
 * path.length // 2, the root and dir
 */
export async function resolvePath(
  root: CID,
  segments: readonly string[],
  getBlock: GetBlock | BlockReader,
): Promise<ResolvedPath> {
  const reader = readerOf(getBlock)
  const path: CID[] = []
  const roots = [root]
  const ended = { roots, remainder: [], missingSegment: undefined }
  let cid = root
  let rest = segments
  while (rest.length > 0) {
    await reader.follow()
    const step = await stepFrom(cid, rest, reader)
    if ('isInside' in step) return { ...ended, path, terminal: cid, remainder: rest }
    path.push(...step.through.filter((through) => inlineBytes(through) === undefined))
    if ('missing' in step) return { ...ended, path, terminal: undefined, missingSegment: step.missing }
    cid = step.next
    roots.push(cid)
    rest = step.rest
  }
  return { ...ended, path, terminal: cid }
}

async function stepFrom(cid: CID, segments: readonly string[], reader: BlockReader): Promise<Step> {
  const [name = '', ...rest] = segments
  if (cid.code === DAG_CBOR || cid.code === DAG_JSON) return stepInside(cid, segments, reader)
  const { answer: node } = await reader.read(cid, { ask: 'node' })
  if (node.kind === 'fault') throw new DagReadError(node.of === 'block' ? 'undecodable' : 'inconsistent', cid)
  if (node.kind === 'hamt') return stepThroughShards(cid, node, { name, rest, reader })
  const place = node.kind === 'directory' ? placeOfText(node.names, [name]) : undefined
  if (node.kind !== 'directory' || place === undefined) return { missing: name, through: [cid] }
  return { next: linkAt(node.links, place), rest, through: [cid] }
}

async function stepInside(cid: CID, segments: readonly string[], reader: BlockReader): Promise<Step> {
  const { answer } = await reader.read(cid, { ask: 'step', segments })
  switch (answer.to) {
    case 'undecodable':
    case 'excessive':
      throw new DagReadError(answer.to, cid)
    case 'value':
      return { isInside: true }
    case 'nothing':
      return { missing: answer.missing, through: [cid] }
    case 'link':
      return { next: CID.decode(answer.cid), rest: segments.slice(answer.restFrom), through: [cid] }
  }
}

interface ShardStep {
  readonly name: string
  readonly rest: readonly string[]
  readonly reader: BlockReader
}

async function stepThroughShards(cid: CID, root: PackedShard, { name, rest, reader }: ShardStep): Promise<Step> {
  if (root.hashCode !== MURMUR3_X64_64) throw new DagReadError('unsupported', cid)
  const hash = hashOfName(name)
  const through = [cid]
  let shard = root
  // Each level is named by the next bits of the hash, from its top; a trie that goes on after the last of them has no end.
  for (let level = 0; level < levelsOf(root.fanout); level += 1) {
    const bucket = bucketText(bucketAt(hash, root.fanout, level), root.fanout)
    const place = placeOfText(shard.names, [bucket, bucket + name])
    if (place === undefined) return { missing: name, through }
    const link = linkAt(shard.links, place)
    if (shard.isShard[place] === 0) return { next: link, rest, through }
    await reader.follow()
    const { answer: node } = await reader.read(link, { ask: 'node' })
    if (node.kind !== 'hamt' || node.fanout !== root.fanout) throw new DagReadError('inconsistent', link)
    through.push(link)
    shard = node
  }
  return { missing: name, through }
}
