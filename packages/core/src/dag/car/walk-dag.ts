import type { CID } from 'multiformats/cid'
import { inlineBytes } from '../links.ts'
import { type BlockReader, readerOf } from './block-reader.ts'
import { DagReadError } from './dag-read-error.ts'
import { type LinkList, linkAt, listBytes } from './link-list.ts'
import type { Block, GetBlock } from './load-block.ts'
import { OpenBlocks } from './open-blocks.ts'
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

/** Which blocks of a DAG are walked, and from where. */
export interface DagWalk {
  readonly root: CID
  /** Finds the blocks, which are then read at once, or also reads them. */
  readonly getBlock: GetBlock | BlockReader
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
 * Memory is the CIDs of one path through the DAG, 1 MiB of links beside it and those of one block, and without `dups` about 60 bytes for
 * each block given. With `dups` a DAG of a few blocks can be walked for longer than anyone waits, if they link to each other often enough:
 * a `BlockReader` can end the walk.
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
  const reader = readerOf(getBlock)
  const walked = dups ? undefined : new WalkedBlocks()
  if (entityBytes !== undefined || scope === 'entity') yield* walkEntity({ root, reader, entityBytes, walked })
  else if (scope === 'block') yield* given(await reader.load(root))
  else yield* walkLinks({ root, walked, reader, read: (cid) => readAllLinks(reader, cid) })
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
  readonly reader: BlockReader
  readonly entityBytes: EntityBytes | undefined
  readonly walked: WalkedBlocks | undefined
}

async function* walkEntity({ root, reader, entityBytes, walked }: EntityWalk): AsyncGenerator<Block, void, undefined> {
  const { block, answer: node } = await reader.read(root, { ask: 'node' })
  if (node.kind === 'file') {
    const span = entityBytes && spanOf(entityBytes, node.sizeBytes)
    for await (const { cid, bytes, isNew } of walkFile({ root: { block, node }, reader, span, walked })) {
      if (isNew) yield* given({ cid, bytes })
    }
  } else if (node.kind === 'hamt') {
    yield* walkLinks({ root, walked, reader, read: (cid) => readShardLinks(reader, cid) })
  } else {
    yield* given(block)
  }
}

/** A block, its links, and the places of those that the walk goes on to; undefined for all. */
interface LinkedBlock {
  readonly block: Block
  readonly links: LinkList
  readonly isFollowed: Uint8Array | undefined
}

interface LinkWalk {
  readonly root: CID
  readonly walked: WalkedBlocks | undefined
  readonly reader: BlockReader
  readonly read: (cid: CID) => Promise<LinkedBlock>
}

async function* walkLinks({ root, walked, reader, read }: LinkWalk): AsyncGenerator<Block, void, undefined> {
  const open = new OpenBlocks<Pick<LinkedBlock, 'links' | 'isFollowed'>>(read)
  walked?.meet(root, true)
  let cid: CID | undefined = root
  while (true) {
    if (cid !== undefined) {
      // Before the block is given, so that one that cannot be read ends the walk and not half of an answer.
      const { block, links, isFollowed } = await read(cid)
      yield* given(block)
      const count = links.ends.length
      open.push({ cid, content: { links, isFollowed }, sizeBytes: listBytes(links), count, next: 0, offset: 0 })
      cid = undefined
    }
    const last = await open.last()
    if (last === undefined) return
    const { links, isFollowed } = last.content
    const place = last.block.next
    last.block.next += 1
    await reader.follow()
    if (isFollowed?.[place] === 0) continue
    const link = linkAt(links, place)
    if (walked?.meet(link, true).isDone !== true) cid = link
  }
}

async function readAllLinks(reader: BlockReader, cid: CID): Promise<LinkedBlock> {
  const { block, answer } = await reader.read(cid, { ask: 'links' })
  if ('fault' in answer) throw new DagReadError(answer.fault, cid)
  return { block, links: answer, isFollowed: undefined }
}

/** The next shards of a sharded directory, and nothing of its entries. */
async function readShardLinks(reader: BlockReader, cid: CID): Promise<LinkedBlock> {
  const { block, answer: node } = await reader.read(cid, { ask: 'node' })
  if (node.kind !== 'hamt') throw new DagReadError('inconsistent', cid)
  return { block, links: node.links, isFollowed: node.isShard }
}

function given(block: Block): readonly Block[] {
  return inlineBytes(block.cid) === undefined ? [block] : []
}
