import { createSha256 } from './sha256.ts'

/** A digest computed over blocks, in order, perhaps by another thread. */
export interface BlockHasher {
  /** Takes the next block. The caller may reuse it once the promise settles, and asks for one at a time. */
  update(block: Uint8Array): Promise<void>
  /** The digest in lower-case hex. Ends the hasher. */
  digestHex(): Promise<string>
  /** Forgets a hasher that will not be asked for its digest. Harmless after it was. */
  discard(): void
}

/** Makes hashers for bodies of `sizeBytes`. */
export type BlockHashers = (sizeBytes: number) => BlockHasher

/** Hashes on the calling thread. */
export const hashHere: BlockHashers = () => {
  const hasher = createSha256()
  return {
    async update(block) {
      hasher.update(block)
    },
    async digestHex() {
      return hasher.digestHex()
    },
    discard() {},
  }
}
