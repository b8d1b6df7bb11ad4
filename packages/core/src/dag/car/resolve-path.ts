import type { CID } from 'multiformats/cid'
import { asLink, DAG_CBOR, DAG_JSON, decodeData, inlineBytes } from '../links.ts'
import { readUnixfsNode, type UnixfsShard } from '../unixfs-file.ts'
import { DagReadError } from './dag-read-error.ts'
import { type Block, type GetBlock, loadBlock } from './load-block.ts'
import { murmur3x64 } from './murmur3.ts'

/** Where a path leads, and the blocks by which it gets there. */
export interface ResolvedPath {
  /**
   * The blocks that prove the path, from the root to the last one before the end, shards of directories among them and
   * identity blocks not. A CAR for the path is these, then the walk from `terminal`.
   */
  readonly path: readonly Block[]
  /** What the path ends at; undefined when `missingSegment` says why it does not. */
  readonly terminal: CID | undefined
  /** The segments that lead to a value inside the terminal block; only of dag-cbor and dag-json, else empty. */
  readonly remainder: readonly string[]
  /** The first segment that is not there; undefined when the path has an end. */
  readonly missingSegment: string | undefined
}

/** One step: to the next block with the rest of the path, or to no further. */
type Step =
  | { readonly next: CID; readonly rest: readonly string[]; readonly through: readonly Block[] }
  | { readonly isInside: true }
  | { readonly missing: string; readonly through: readonly Block[] }

const MURMUR3_X64_64 = 0x22

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
export async function resolvePath(root: CID, segments: readonly string[], getBlock: GetBlock): Promise<ResolvedPath> {
  const path: Block[] = []
  const ended = { remainder: [], missingSegment: undefined }
  let cid = root
  let rest = segments
  while (rest.length > 0) {
    const step = await stepFrom(await loadBlock(cid, getBlock), rest, getBlock)
    if ('isInside' in step) return { ...ended, path, terminal: cid, remainder: rest }
    path.push(...step.through.filter((block) => inlineBytes(block.cid) === undefined))
    if ('missing' in step) return { ...ended, path, terminal: undefined, missingSegment: step.missing }
    cid = step.next
    rest = step.rest
  }
  return { ...ended, path, terminal: cid }
}

async function stepFrom(block: Block, segments: readonly string[], getBlock: GetBlock): Promise<Step> {
  const { cid, bytes } = block
  const [name = '', ...rest] = segments
  if (cid.code === DAG_CBOR || cid.code === DAG_JSON) return stepInside(block, segments)
  const node = readUnixfsNode(cid.code, bytes)
  if (node.kind === 'fault') throw new DagReadError(node.of === 'block' ? 'undecodable' : 'inconsistent', cid)
  if (node.kind === 'hamt') return stepThroughShards(block, node, { name, rest, getBlock })
  const next = node.kind === 'directory' ? node.entries.find((entry) => entry.name === name)?.cid : undefined
  return next === undefined ? { missing: name, through: [block] } : { next, rest, through: [block] }
}

function stepInside(block: Block, segments: readonly string[]): Step {
  const decoded = decodeData(block.cid.code, block.bytes)
  if (decoded === undefined) throw new DagReadError('undecodable', block.cid)
  let value = decoded.value
  for (const [index, segment] of segments.entries()) {
    const link = asLink(value)
    if (link !== undefined) return { next: link, rest: segments.slice(index), through: [block] }
    if (!hasEntry(value, segment)) return { missing: segment, through: [block] }
    value = value[segment]
  }
  const link = asLink(value)
  return link === undefined ? { isInside: true } : { next: link, rest: [], through: [block] }
}

function hasEntry(value: unknown, key: string): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return false
  return Array.isArray(value) ? /^(?:0|[1-9]\d*)$/.test(key) && Object.hasOwn(value, key) : Object.hasOwn(value, key)
}

interface ShardStep {
  readonly name: string
  readonly rest: readonly string[]
  readonly getBlock: GetBlock
}

async function stepThroughShards(block: Block, root: UnixfsShard, { name, rest, getBlock }: ShardStep): Promise<Step> {
  if (root.hashCode !== MURMUR3_X64_64) throw new DagReadError('unsupported', block.cid)
  const bits = Math.log2(root.fanout)
  const digits = (root.fanout - 1).toString(16).length
  const hash = murmur3x64(utf8(name))
  const through = [block]
  let shard = root
  // Each level is named by the next bits of the hash, from its top; a trie that goes on after the last of them has no end.
  for (let usedBits = bits; usedBits <= 64; usedBits += bits) {
    const place = (hash >> BigInt(64 - usedBits)) % BigInt(root.fanout)
    const bucket = place.toString(16).toUpperCase().padStart(digits, '0')
    const link = shard.links.find((each) => each.bucket === bucket && (each.name ?? name) === name)
    if (link === undefined) return { missing: name, through }
    if (link.name !== undefined) return { next: link.cid, rest, through }
    const next = await loadBlock(link.cid, getBlock)
    const node = readUnixfsNode(next.cid.code, next.bytes)
    if (node.kind !== 'hamt' || node.fanout !== root.fanout) throw new DagReadError('inconsistent', next.cid)
    through.push(next)
    shard = node
  }
  return { missing: name, through }
}

function utf8(text: string): Uint8Array {
  const bytes = encodeURIComponent(text.toWellFormed()).match(/%..|./g) ?? []
  return Uint8Array.from(bytes, (byte) => (byte.length === 1 ? byte.charCodeAt(0) : Number.parseInt(byte.slice(1), 16)))
}
