import { readUnixfsNode, type UnixfsFileNode } from '../unixfs-file.ts'
import { DagReadError } from './dag-read-error.ts'
import { type Block, type GetBlock, loadBlock } from './load-block.ts'
import type { WalkedBlocks } from './walked-blocks.ts'

/** Bytes of a file from `start` up to `end`, which is not among them. */
export interface ByteSpan {
  readonly start: number
  readonly end: number
}

/** One block of a file, and the bytes of the file that are in it. */
export interface FileBlock extends Block {
  readonly data: Uint8Array
  /** Where `data` begins in the file. */
  readonly dataStart: number
  /** False when the walk has been at this block before, with other parts of it to go through. */
  readonly isNew: boolean
}

export interface FileWalk {
  readonly root: Block
  readonly getBlock: GetBlock
  /** Only the blocks that are needed for these bytes; all of them, also the empty ones, where it is undefined. */
  readonly span: ByteSpan | undefined
  /** Where what has been walked is noted, so that it is not walked again; undefined to repeat what the file repeats. */
  readonly walked: WalkedBlocks | undefined
}

/**
 * Goes through the blocks of a file, each before its children, which is the order of the file's bytes.
 *
 * Memory is one path of nodes and the links beside it.
 *
 * @throws {DagReadError} for the first block that is `missing`, and for parts that are `inconsistent` with the node above.
 */
export async function* walkFile({
  root,
  getBlock,
  span,
  walked,
}: FileWalk): AsyncGenerator<FileBlock, void, undefined> {
  const rootNode = readUnixfsNode(root.cid.code, root.bytes)
  if (rootNode.kind !== 'file') throw new DagReadError('not-a-file', root.cid)
  const open = [{ cid: root.cid, start: 0, sizeBytes: rootNode.sizeBytes }]
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const isWhole = span === undefined || (span.start <= part.start && part.start + part.sizeBytes <= span.end)
    const { isNew, isDone } = walked?.meet(part.cid, isWhole) ?? { isNew: true, isDone: false }
    if (isDone) continue
    const block = part.cid === root.cid ? root : await loadBlock(part.cid, getBlock)
    const node = part.cid === root.cid ? rootNode : readPart(block, part.sizeBytes)
    yield { ...block, data: node.data, dataStart: part.start, isNew }
    for (const child of childrenIn(node, part.start, span).reverse()) open.push(child)
  }
}

function readPart({ cid, bytes }: Block, announcedBytes: number): UnixfsFileNode {
  const node = readUnixfsNode(cid.code, bytes)
  if (node.kind !== 'file' || node.sizeBytes !== announcedBytes) throw new DagReadError('inconsistent', cid)
  return node
}

/** The children of a node that begins at `nodeStart`, in order; with a span, those that have bytes in it. */
function childrenIn({ data, children }: UnixfsFileNode, nodeStart: number, span: ByteSpan | undefined) {
  const placed = []
  let start = nodeStart + data.length
  for (const { cid, sizeBytes } of children) {
    const end = start + sizeBytes
    if (span === undefined || Math.max(start, span.start) < Math.min(end, span.end))
      placed.push({ cid, start, sizeBytes })
    start = end
  }
  return placed
}
