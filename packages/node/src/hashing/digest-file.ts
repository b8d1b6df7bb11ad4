import { open } from 'node:fs/promises'
import type { ContentDigests, DigestsWanted } from '@lade/core/content'
import { allocateSharedReadBuffer } from '../memory/read-buffer.ts'
import type { ContentHashers } from './content-hasher.ts'

const BLOCK_BYTES = 1024 * 1024
/** Enough for hashers of unequal speed to be busy at once. */
const BLOCKS = 4

/**
 * Hashes a file of the disk in one pass.
 *
 * @param options.wanted - told the file's size, says what is to be computed beside sha2-256 and the piece commitment.
 * @throws {Error} of the file system; one that says so when the file becomes shorter meanwhile. What is added meanwhile is
 *   not hashed.
 *
 * @example
 * const { sha256 } = await digestFile('abc.txt', { hashers: hashContentHere, wanted })
 * // 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad' for the three bytes abc
 */
export async function digestFile(
  path: string,
  { hashers, wanted }: { readonly hashers: ContentHashers; readonly wanted: (sizeBytes: number) => DigestsWanted },
): Promise<ContentDigests> {
  const file = await open(path)
  try {
    const { size: sizeBytes } = await file.stat()
    const hasher = hashers(wanted(sizeBytes), sizeBytes)
    try {
      const blocks = Array.from({ length: BLOCKS }, () => allocateSharedReadBuffer(BLOCK_BYTES))
      const uses: Promise<void>[] = blocks.map(() => Promise.resolve())
      let offset = 0
      for (let turn = 0; offset < sizeBytes; turn = (turn + 1) % BLOCKS) {
        await uses[turn]
        const block = blocks[turn] ?? Buffer.alloc(0)
        const { bytesRead } = await file.read(block, 0, Math.min(BLOCK_BYTES, sizeBytes - offset), offset)
        if (bytesRead === 0) throw new Error(`${path} became shorter while it was read.`)
        offset += bytesRead
        const used = hasher.update(block.subarray(0, bytesRead))
        // Looked at when the block's turn comes again, and at the end.
        used.catch(() => {})
        uses[turn] = used
      }
      await Promise.all(uses)
      return await hasher.digests()
    } finally {
      hasher.discard()
    }
  } finally {
    await file.close()
  }
}
