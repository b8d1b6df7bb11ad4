import type { CID } from 'multiformats/cid'
import { LadeError } from '../../errors/lade-error.ts'
import { type BlockReader, readerOf } from './block-reader.ts'
import { DagReadError } from './dag-read-error.ts'
import type { GetBlock } from './load-block.ts'
import { walkFile } from './walk-file.ts'

/** Which file of UnixFS is read, and from where. */
export interface FileRead {
  readonly root: CID
  /** Finds the blocks, which are then read at once, or also reads them. */
  readonly getBlock: GetBlock | BlockReader
  /** The part of the file that is wanted; the whole of it when it is undefined. */
  readonly range?: { readonly offset: number; readonly length: number } | undefined
}

/**
 * Gives the bytes of a UnixFS file, or a range of them, and fetches the blocks that hold them and no others.
 *
 * Chunks are views of the blocks and never empty. Either all bytes of the range are given, or it throws: each part is
 * checked to be as large as the node above it says.
 *
 * @throws {DagReadError} from the generator: `not-a-file` when the root is none, `missing`, and `inconsistent`.
 * @throws {LadeError} `range_not_satisfiable` for a range that is not inside of the file.
 *
 * @example
 * for await (const chunk of readUnixfsFile({ root, getBlock, range: { offset: 0, length: 5 } })) write(chunk)
 */
export async function* readUnixfsFile({
  root,
  getBlock,
  range,
}: FileRead): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = readerOf(getBlock)
  const { block, answer: node } = await reader.read(root, { ask: 'node' })
  if (node.kind !== 'file') throw new DagReadError('not-a-file', root)
  const start = range?.offset ?? 0
  const end = range === undefined ? node.sizeBytes : start + range.length
  if (!(start >= 0 && start <= end && end <= node.sizeBytes)) {
    throw new LadeError('range_not_satisfiable', { size: node.sizeBytes })
  }
  for await (const { data, dataStart } of walkFile({
    root: { block, node },
    reader,
    span: { start, end },
    walked: undefined,
  })) {
    const chunk = data.subarray(Math.max(0, start - dataStart), Math.max(0, end - dataStart))
    if (chunk.length > 0) yield chunk
  }
}
