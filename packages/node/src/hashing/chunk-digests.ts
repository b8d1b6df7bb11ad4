import { type Sha256, type Sha256Stream, streamOf } from '@lade/core/dag'

/** Blobs bigger than this are verified chunk by chunk. */
export const CHUNK_BYTES = 1024 * 1024
/** The length of the digest of one chunk. */
export const CHUNK_DIGEST_BYTES = 32
/** Room for digests comes in pages, so that a size that was only announced reserves nothing. */
const PAGE_CHUNKS = 256

/** How many chunks a blob of `sizeBytes` has. */
export function chunkCount(sizeBytes: number): number {
  return Math.ceil(sizeBytes / CHUNK_BYTES)
}

/**
 * The sha2-256 of every chunk of 1 MiB of a body, while the body arrives; the last chunk may be shorter.
 *
 * A body of unknown length is ended by `end`. With a `sha256` whose streams put their work off, bytes are free once that is done, and it has to be done before `finish`.
 *
 * @example
 * const hasher = new ChunkHasher({ sizeBytes: 3_000_000, sha256 })
 * hasher.update(new Uint8Array(3_000_000))
 * hasher.finish().length // 96: three digests
 */
export class ChunkHasher {
  readonly #sizeBytes: number | undefined
  readonly #stream: Sha256Stream
  /** Pages never move, since a digest may be written long after its chunk has ended. */
  readonly #pages: Uint8Array[] = []
  #chunks = 0
  #receivedBytes = 0

  constructor({ sizeBytes, sha256 }: { readonly sizeBytes?: number | undefined; readonly sha256: Sha256 }) {
    this.#sizeBytes = sizeBytes
    this.#stream = streamOf(sha256)
  }

  /** Takes the next bytes. */
  update(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const end = Math.min((this.#chunks + 1) * CHUNK_BYTES, this.#sizeBytes ?? Infinity)
      const part = bytes.subarray(at, at + end - this.#receivedBytes)
      if (part.length === 0) throw new TypeError(`a body of ${this.#sizeBytes} bytes has more`)
      at += part.length
      this.#receivedBytes += part.length
      if (this.#receivedBytes < end) {
        this.#stream.update(part)
        continue
      }
      this.#stream.end(part, this.#placeForDigest())
      this.#chunks += 1
    }
  }

  /** Says that no bytes follow: to be called once for a body of unknown length, and harmless for others. */
  end(): void {
    if (this.#sizeBytes !== undefined || this.#receivedBytes === this.#chunks * CHUNK_BYTES) return
    this.#stream.end(new Uint8Array(), this.#placeForDigest())
    this.#chunks += 1
  }

  /** All digests, 32 bytes each. */
  finish(): Uint8Array {
    const digests = new Uint8Array(this.#chunks * CHUNK_DIGEST_BYTES)
    for (const [index, page] of this.#pages.entries()) {
      const at = index * PAGE_CHUNKS * CHUNK_DIGEST_BYTES
      digests.set(page.subarray(0, digests.length - at), at)
    }
    return digests
  }

  #placeForDigest(): Uint8Array {
    const at = (this.#chunks % PAGE_CHUNKS) * CHUNK_DIGEST_BYTES
    let page = this.#pages.at(-1)
    if (at === 0 || page === undefined) {
      page = new Uint8Array(PAGE_CHUNKS * CHUNK_DIGEST_BYTES)
      this.#pages.push(page)
    }
    return page.subarray(at, at + CHUNK_DIGEST_BYTES)
  }
}
