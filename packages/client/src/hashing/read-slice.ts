import { LadeError } from '@lade/core/errors'
import { type ReadFile, type Slice, sizeOf, sliceOf } from './slice.ts'

export interface ReadSliceOptions {
  readonly blockBytes: number
  readonly readFile: ReadFile
  /** True when a block is done with before the next one is asked for, so that its memory can be filled again. */
  readonly reuseBlocks?: boolean
}

type Block = Uint8Array<ArrayBuffer>

/**
 * Reads a slice in blocks of `blockBytes`, the last one shorter; the next is read while one is used.
 *
 * @throws {LadeError} `source_changed` when the bytes are not there any more.
 */
export async function* readSlice(slice: Slice, options: ReadSliceOptions): AsyncGenerator<Block, void, undefined> {
  const totalBytes = sizeOf(slice)
  const { blockBytes, reuseBlocks = false } = options
  // One is used while the other is filled.
  const memory: (Block | undefined)[] = []
  const read = (offsetBytes: number, turn: number): Promise<Block> => {
    const sizeBytes = Math.min(blockBytes, totalBytes - offsetBytes)
    let into: Block | undefined
    if (reuseBlocks && slice.kind === 'file') {
      memory[turn % 2] ??= new Uint8Array(Math.min(blockBytes, totalBytes))
      into = memory[turn % 2]?.subarray(0, sizeBytes)
    }
    const block = readWhole(sliceOf(slice, offsetBytes, sizeBytes), options.readFile, into)
    // Whoever stops early never asks for it.
    block.catch(() => {})
    return block
  }
  let next = totalBytes > 0 ? read(0, 0) : undefined
  for (let offsetBytes = 0, turn = 1; next !== undefined; turn += 1) {
    const block: Block = await next
    offsetBytes += block.length
    next = offsetBytes < totalBytes ? read(offsetBytes, turn) : undefined
    yield block
  }
}

async function readWhole(slice: Slice, readFile: ReadFile, into: Block | undefined): Promise<Block> {
  switch (slice.kind) {
    case 'bytes':
      return slice.bytes
    case 'blob':
      return readBlob(slice.blob)
    case 'file': {
      const block = into ?? new Uint8Array(slice.sizeBytes)
      await readFile(slice.fd, slice.offsetBytes, block)
      return block
    }
  }
}

async function readBlob(blob: Blob): Promise<Block> {
  let bytes: Block
  try {
    bytes = new Uint8Array(await blob.arrayBuffer())
  } catch (cause) {
    // A blob out of memory is always there; one of a file cannot be read once the file is another.
    throw new LadeError('source_changed', { reason: 'The file can no longer be read. Upload it again.' }, { cause })
  }
  if (bytes.length !== blob.size)
    throw new LadeError('source_changed', { reason: 'The file became shorter during the upload. Upload it again.' })
  return bytes
}
