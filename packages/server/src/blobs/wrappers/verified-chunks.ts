import { chunkCount } from '@lade/node/hashing/chunk-digests'

/** Memory for the bits of all blobs: those of 64 TiB. */
const MOST_BIT_BYTES = 8 * 1024 * 1024

/** How long and how many verified chunks are remembered. */
export interface VerifiedChunksOptions {
  /** For how long a chunk that was verified is trusted; 0 for never. */
  readonly trustMs: number
  /** A clock that never goes back, in milliseconds. */
  readonly now: () => number
  /** How many blobs are remembered. */
  readonly rememberAtMost: number
}

interface Remembered {
  readonly version: string
  /** When the first of its chunks was verified: none is trusted for longer than from then on. */
  readonly since: number
  /** One bit for each chunk that was verified. */
  readonly bits: Uint8Array
}

/** The chunks that were verified lately, by the version of their blob. Memory is bounded: blobs that were read last stay. */
export class VerifiedChunks {
  readonly #options: VerifiedChunksOptions
  /** By digest; the one that was used last is last. */
  readonly #blobs = new Map<string, Remembered>()
  #bitBytes = 0

  constructor(options: VerifiedChunksOptions) {
    this.#options = options
  }

  /** True when all chunks from `first` to before `end` are trusted. Nothing is of bytes without a version. */
  has(sha256: string, version: string | undefined, { first, end }: ChunkSpan): boolean {
    const known = this.#current(sha256, version)
    if (known === undefined) return false
    for (let index = first; index < end; index += 1) {
      if (((known.bits[index >> 3] ?? 0) & (1 << (index & 7))) === 0) return false
    }
    this.#blobs.delete(sha256)
    this.#blobs.set(sha256, known)
    return true
  }

  /** @param readAt - by the clock, before the bytes were read. */
  add(
    sha256: string,
    version: string | undefined,
    { first, end, sizeBytes, readAt }: ChunkSpan & { readonly sizeBytes: number; readonly readAt: number },
  ): void {
    if (version === undefined || this.#options.trustMs === 0) return
    const known = this.#current(sha256, version) ?? this.#remember(sha256, version, sizeBytes, readAt)
    for (let index = first; index < end; index += 1) {
      known.bits[index >> 3] = (known.bits[index >> 3] ?? 0) | (1 << (index & 7))
    }
  }

  forget(sha256: string): void {
    this.#bitBytes -= this.#blobs.get(sha256)?.bits.length ?? 0
    this.#blobs.delete(sha256)
  }

  #current(sha256: string, version: string | undefined): Remembered | undefined {
    const known = this.#blobs.get(sha256)
    if (known === undefined || version === undefined || known.version !== version) return undefined
    if (this.#options.now() - known.since < this.#options.trustMs) return known
    this.forget(sha256)
    return undefined
  }

  #remember(sha256: string, version: string, sizeBytes: number, readAt: number): Remembered {
    this.forget(sha256)
    const known = { version, since: readAt, bits: new Uint8Array(Math.ceil(Math.max(1, chunkCount(sizeBytes)) / 8)) }
    this.#blobs.set(sha256, known)
    this.#bitBytes += known.bits.length
    for (const oldest of this.#blobs.keys()) {
      const isWithin = this.#blobs.size <= this.#options.rememberAtMost && this.#bitBytes <= MOST_BIT_BYTES
      if (isWithin || oldest === sha256) break
      this.forget(oldest)
    }
    return known
  }
}

/** Chunks from the number `first` to before `end`. */
export interface ChunkSpan {
  readonly first: number
  readonly end: number
}
