import type { HashWants } from './hash-wants.ts'
import type { Hashing } from './hashing.ts'
import { type HashTools, PartHasher } from './part-hasher.ts'
import { readSlice } from './read-slice.ts'
import { beginHashes, endHashes } from './running-hash.ts'
import { type ReadFile, type Slice, sizeOf } from './slice.ts'

/** What hashing slices takes from the runtime. */
export interface SliceTools extends HashTools {
  readonly readFile: ReadFile
}

/** A leaf of 1 MiB is hashed where it was read, without a copy. */
const BLOCK_BYTES = 1024 * 1024

/** Hashes on this thread. Between blocks of 1 MiB others have their turn. */
export async function hashHere(wants: HashWants, tools: SliceTools): Promise<Hashing> {
  const running = await beginHashes(wants, tools.sha256)
  let isClosed = false
  return {
    async part(slice, onHashed) {
      const hasher = await PartHasher.begin(wants, sizeOf(slice), tools)
      const blocks = readSlice(slice, { blockBytes: BLOCK_BYTES, readFile: tools.readFile, reuseBlocks: true })
      for await (const block of blocks) {
        await hasher.update(block)
        for (const hash of Object.values(running)) hash.update(block)
        onHashed(block.length)
        await turn(slice)
        if (isClosed) throw new Error('the hashing was given up')
      }
      return hasher.finish()
    },
    async finish() {
      return endHashes(running)
    },
    close() {
      isClosed = true
    },
  }
}

/** Reading gives way by itself, but for bytes that are in memory already. */
async function turn(slice: Slice): Promise<void> {
  if (slice.kind === 'bytes') await new Promise((resolve) => setTimeout(resolve, 0))
}
