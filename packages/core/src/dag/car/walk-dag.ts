import type { CID } from 'multiformats/cid'
import { inlineBytes, linksOf } from '../links.ts'
import { readUnixfsNode } from '../unixfs-file.ts'
import { DagReadError } from './dag-read-error.ts'
import { type Block, type GetBlock, loadBlock } from './load-block.ts'
import { type ByteSpan, walkFile } from './walk-file.ts'
import { WalkedBlocks } from './walked-blocks.ts'

/** How much of a DAG: the root block, what it takes to read the file or list the directory that the root is, or all. */
export type DagScope = 'block' | 'entity' | 'all'

/** Positions of the first and the last byte of a range, both in it; those below zero count from the end of the file. */
export interface EntityBytes {
  readonly from: number
  /** Undefined for the last byte of the file. */
  readonly to: number | undefined
}

export interface DagWalk {
  readonly root: CID
  readonly getBlock: GetBlock
  /** @default 'all' */
  readonly scope?: DagScope
  /** Of a file, the blocks for this range only; it implies the scope `entity`, and is ignored for what is no file. */
  readonly entityBytes?: EntityBytes | undefined
  /** True to give a block each time it is linked to. @default false, which gives it once and remembers that. */
  readonly dups?: boolean
}

/**
 * Goes through the blocks of a DAG depth first, each before what it links to and links in their order: the blocks of a
 * CAR of `order=dfs`.
 *
 * Blocks of identity CIDs are walked and not given, since whoever has the link has them. A range gives the blocks that are
 * needed to verify and read it and none besides, and one that is empty or outside of the file gives the root block. The
 * entity of a directory is its own blocks, all shards of it where it is sharded; of anything that is no UnixFS, its block.
 *
 * Memory is one path through the DAG with the links beside it, and without `dups` about 60 bytes for each block given.
 * With `dups` a DAG of a few blocks can be walked for longer than anyone waits, if they link to each other often enough.
 *
 * @throws {DagReadError} from the generator, after the blocks that come before it: `missing`, `undecodable`,
 *   `unsupported`, and `inconsistent` for parts of a file. A root that is missing or cannot be read gives no block.
 * @see https://specs.ipfs.tech/http-gateways/trustless-gateway/#dag-scope-request-query-parameter
 *
 * @example
 * for await (const { cid, bytes } of walkDag({ root, getBlock, scope: 'entity', entityBytes: { from: -1024, to: undefined } })) {
 *   write(carSection(cid, bytes.length), bytes)
 * }
 */
export async function* walkDag({
  root,
  getBlock,
  scope = 'all',
  entityBytes,
  dups = false,
}: DagWalk): AsyncGenerator<Block, void, undefined> {
  const walked = dups ? undefined : new WalkedBlocks()
  if (entityBytes !== undefined || scope === 'entity') yield* walkEntity({ root, getBlock, entityBytes, walked })
  else if (scope === 'block') yield* given(await loadBlock(root, getBlock))
  else yield* walkLinks({ root, getBlock, walked, linksOfBlock: allLinks })
}

/**
 * The bytes that a range means in a file of `sizeBytes`; empty when it lies outside of it or ends before it begins.
 *
 * @example
 * spanOf({ from: -1024, to: undefined }, 5000) // { start: 3976, end: 5000 }
 */
export function spanOf({ from, to }: EntityBytes, sizeBytes: number): ByteSpan {
  const start = from < 0 ? Math.max(0, sizeBytes + from) : from
  const last = to === undefined ? sizeBytes - 1 : to < 0 ? sizeBytes + to : to
  const end = Math.min(last + 1, sizeBytes)
  return start < end ? { start, end } : { start: 0, end: 0 }
}

interface EntityWalk {
  readonly root: CID
  readonly getBlock: GetBlock
  readonly entityBytes: EntityBytes | undefined
  readonly walked: WalkedBlocks | undefined
}

async function* walkEntity({
  root,
  getBlock,
  entityBytes,
  walked,
}: EntityWalk): AsyncGenerator<Block, void, undefined> {
  const block = await loadBlock(root, getBlock)
  const node = readUnixfsNode(root.code, block.bytes)
  if (node.kind === 'file') {
    const span = entityBytes && spanOf(entityBytes, node.sizeBytes)
    for await (const { cid, bytes, isNew } of walkFile({ root: block, getBlock, span, walked })) {
      if (isNew) yield* given({ cid, bytes })
    }
  } else if (node.kind === 'hamt') {
    yield* walkLinks({ root, getBlock, walked, linksOfBlock: shardLinks })
  } else {
    yield* given(block)
  }
}

interface LinkWalk {
  readonly root: CID
  readonly getBlock: GetBlock
  readonly walked: WalkedBlocks | undefined
  readonly linksOfBlock: (block: Block) => readonly CID[]
}

async function* walkLinks({ root, getBlock, walked, linksOfBlock }: LinkWalk): AsyncGenerator<Block, void, undefined> {
  const open = [root]
  for (let cid = open.pop(); cid !== undefined; cid = open.pop()) {
    if (walked?.meet(cid, true).isDone) continue
    const block = await loadBlock(cid, getBlock)
    // Before the block is given, so that one that cannot be read ends the walk and not half of an answer.
    const links = linksOfBlock(block)
    yield* given(block)
    for (let index = links.length - 1; index >= 0; index -= 1) {
      const link = links[index]
      if (link !== undefined) open.push(link)
    }
  }
}

function allLinks({ cid, bytes }: Block): readonly CID[] {
  const read = linksOf(cid.code, bytes)
  if ('fault' in read) throw new DagReadError(read.fault, cid)
  return read.links
}

/** The next shards of a sharded directory, and nothing of its entries. */
function shardLinks({ cid, bytes }: Block): readonly CID[] {
  const node = readUnixfsNode(cid.code, bytes)
  if (node.kind !== 'hamt') throw new DagReadError('inconsistent', cid)
  return node.links.filter(({ name }) => name === undefined).map((link) => link.cid)
}

function given(block: Block): readonly Block[] {
  return inlineBytes(block.cid) === undefined ? [block] : []
}
