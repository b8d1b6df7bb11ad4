import type { Spill } from '../platform.ts'

/** How many bytes are put into one Blob of their own. */
const BLOCK_BYTES = 4 * 1024 * 1024

/** Gathers in Blobs, which a browser may keep on its disk. */
export async function createSpill(): Promise<Spill> {
  let blobs: Blob[] = []
  let chunks: Uint8Array<ArrayBuffer>[] = []
  let chunkBytes = 0
  const seal = () => {
    blobs.push(new Blob(chunks))
    chunks = []
    chunkBytes = 0
  }
  return {
    async append(chunk) {
      // The chunk is its owner's again when this resolves.
      chunks.push(new Uint8Array(chunk))
      chunkBytes += chunk.length
      if (chunkBytes >= BLOCK_BYTES) seal()
    },
    slice() {
      seal()
      return { kind: 'blob', blob: new Blob(blobs) }
    },
    async discard() {
      blobs = []
      chunks = []
    },
  }
}
