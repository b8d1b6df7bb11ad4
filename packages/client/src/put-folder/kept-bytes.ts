import type { SourceFile } from './source-item.ts'

/** What a put of a folder holds in memory of its files at most, beside the requests under way. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024

/**
 * The bytes of small files that were read to be hashed, so that they need not be read again to be sent. What is over the limit is not
 * kept.
 */
export class KeptBytes {
  readonly #bytes = new Map<SourceFile, Uint8Array<ArrayBuffer>>()
  #sizeBytes = 0

  keep(file: SourceFile, bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#sizeBytes + bytes.length > MAX_KEPT_BYTES) return
    this.#bytes.set(file, bytes)
    this.#sizeBytes += bytes.length
  }

  /** The bytes of a file if they are kept, and keeps them no longer. */
  take(file: SourceFile): Uint8Array<ArrayBuffer> | undefined {
    const bytes = this.#bytes.get(file)
    if (bytes === undefined) return undefined
    this.#bytes.delete(file)
    this.#sizeBytes -= bytes.length
    return bytes
  }

  /** Call once it is known which files are sent: the others are not kept on. */
  keepOnly(files: Iterable<SourceFile>): void {
    const wanted = new Set(files)
    for (const file of this.#bytes.keys()) if (!wanted.has(file)) this.take(file)
  }
}
