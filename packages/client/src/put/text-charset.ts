import { readSlice } from '../hashing/read-slice.ts'
import type { ReadFile, Slice } from '../hashing/slice.ts'

const BLOCK_BYTES = 1024 * 1024

/** True for a text type that does not say how its text is encoded. Browsers take such text for Windows-1252, not for UTF-8. */
export function lacksCharset(contentType: string): boolean {
  return /^\s*text\//i.test(contentType) && !/;\s*charset\s*=/i.test(contentType)
}

/** Checks whether bytes are UTF-8, chunk by chunk. */
export class Utf8Check {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  #isUtf8 = true

  update(chunk: Uint8Array): boolean {
    return this.#decode(chunk, true)
  }

  /** True when all of it was UTF-8, to its last byte. */
  finish(): boolean {
    return this.#decode(new Uint8Array(), false)
  }

  #decode(chunk: Uint8Array, stream: boolean): boolean {
    if (!this.#isUtf8) return false
    try {
      this.#decoder.decode(chunk, { stream })
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      this.#isUtf8 = false
    }
    return this.#isUtf8
  }
}

/**
 * The type to send a file with: as it is, and with `charset=utf-8` for text that is UTF-8 and does not say so.
 *
 * @throws {LadeError} `source_changed`.
 */
export async function withCharset(contentType: string, slice: Slice, readFile: ReadFile): Promise<string> {
  if (!lacksCharset(contentType)) return contentType
  const check = new Utf8Check()
  for await (const block of readSlice(slice, { blockBytes: BLOCK_BYTES, readFile, reuseBlocks: true })) {
    if (!check.update(block)) return contentType
  }
  return charsetAdded(contentType, check.finish())
}

/** @param isUtf8 - what a {@link Utf8Check} found. */
export function charsetAdded(contentType: string, isUtf8: boolean): string {
  return isUtf8 && lacksCharset(contentType) ? `${contentType.trim()}; charset=utf-8` : contentType
}
