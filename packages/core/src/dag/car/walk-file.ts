import type { CID } from 'multiformats/cid'
import type { BlockReader } from './block-reader.ts'
import { DagReadError } from './dag-read-error.ts'
import { linkAt } from './link-list.ts'
import type { Block } from './load-block.ts'
import { OpenBlocks } from './open-blocks.ts'
import { nodeBytes, type PackedFile } from './packed-node.ts'
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

/** Which blocks of a file are walked. */
export interface FileWalk {
  readonly root: { readonly block: Block; readonly node: PackedFile }
  readonly reader: BlockReader
  /** Only the blocks that are needed for these bytes; all of them, also the empty ones, where it is undefined. */
  readonly span: ByteSpan | undefined
  /** Where what has been walked is noted, so that it is not walked again; undefined to repeat what the file repeats. */
  readonly walked: WalkedBlocks | undefined
}

/**
 * Goes through the blocks of a file, each before its children, which is the order of the file's bytes.
 *
 * Memory is the CIDs of one path of nodes, 1 MiB of links beside it, and one node.
 *
 * @throws {DagReadError} for the first block that is `missing`, and for parts that are `inconsistent` with the node above.
 */
export async function* walkFile({ root, reader, span, walked }: FileWalk): AsyncGenerator<FileBlock, void, undefined> {
  const open = new OpenBlocks<PackedFile>(async (cid) => (await readPart(reader, cid)).node)
  let part: FilePart | undefined = { cid: root.block.cid, start: 0, sizeBytes: root.node.sizeBytes }
  let isRoot = true
  while (true) {
    if (part !== undefined) {
      const { cid, start, sizeBytes }: FilePart = part
      part = undefined
      const isWhole = span === undefined || (span.start <= start && start + sizeBytes <= span.end)
      const { isNew, isDone } = walked?.meet(cid, isWhole) ?? { isNew: true, isDone: false }
      if (!isDone) {
        const { block, node }: FileWalk['root'] = isRoot ? root : await readPart(reader, cid, sizeBytes)
        isRoot = false
        const { dataStart, dataEnd } = node
        yield { ...block, data: block.bytes.subarray(dataStart, dataEnd), dataStart: start, isNew }
        const offset = start + dataEnd - dataStart
        const count = node.links.ends.length
        open.push({ cid, content: node, sizeBytes: nodeBytes(node), count, next: 0, offset })
      }
    }
    const last = await open.last()
    if (last === undefined) return
    const { links, partSizes } = last.content
    const place = last.block.next
    const start = last.block.offset
    const sizeBytes = partSizes[place] ?? 0
    last.block.next += 1
    last.block.offset += sizeBytes
    await reader.follow()
    if (span !== undefined && Math.max(start, span.start) >= Math.min(start + sizeBytes, span.end)) continue
    part = { cid: linkAt(links, place), start, sizeBytes }
  }
}

/** A part of a file, where it begins, and how large the node above says that it is. */
interface FilePart {
  readonly cid: CID
  readonly start: number
  readonly sizeBytes: number
}

async function readPart(reader: BlockReader, cid: CID, announcedBytes?: number): Promise<FileWalk['root']> {
  const { block, answer: node } = await reader.read(cid, { ask: 'node' })
  if (node.kind !== 'file' || node.sizeBytes !== (announcedBytes ?? node.sizeBytes)) {
    throw new DagReadError('inconsistent', cid)
  }
  return { block, node }
}
