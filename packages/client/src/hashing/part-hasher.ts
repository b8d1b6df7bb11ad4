import type { Sha256 } from '@lade/core/dag/import'
import type { PieceDigest, PieceHasher } from '@lade/core/piece'
import { bytesToHex } from '@noble/hashes/utils.js'
import type { HashWants } from './hash-wants.ts'
import { type Digest, LeafHasher, type LeafKind } from './leaves.ts'
import type { RunningHash } from './running-hash.ts'

/** What hashing takes from the runtime. */
export interface HashTools {
  readonly sha256: Sha256
  readonly digest: Digest
}

/** What one pass over a file, or over a part of one, learned about it. */
export interface PartDigests {
  readonly sizeBytes: number
  /** The sha2-256 of every leaf, 32 bytes each, by the kinds that were wanted. */
  readonly leaves: Readonly<Partial<Record<LeafKind, Uint8Array>>>
  readonly piece?: PieceDigest
  /** Of these bytes alone, in hex, where it was wanted. */
  readonly sha256?: string
}

type LeafHashers = readonly (readonly [LeafKind, LeafHasher])[]

/** Hashes what can be put together from parts: leaves and pieces. Bytes come in chunks of any size. */
export class PartHasher {
  readonly #sizeBytes: number
  readonly #leaves: LeafHashers
  readonly #piece: PieceHasher | undefined
  readonly #sha256: RunningHash | undefined
  #receivedBytes = 0

  private constructor(
    sizeBytes: number,
    leaves: LeafHashers,
    piece: PieceHasher | undefined,
    sha256: RunningHash | undefined,
  ) {
    this.#sizeBytes = sizeBytes
    this.#leaves = leaves
    this.#piece = piece
    this.#sha256 = sha256
  }

  static async begin(wants: HashWants, sizeBytes: number, tools: HashTools): Promise<PartHasher> {
    const leaves = wants.leaves.map((kind) => [kind, new LeafHasher(kind, sizeBytes, tools.digest)] as const)
    // Loaded when somebody wants a piece: its WebAssembly is the biggest thing here, and not every page may run it.
    const piece = wants.piece ? new (await import('@lade/core/piece')).PieceHasher() : undefined
    if (sizeBytes === 0) for (const [, hasher] of leaves) await hasher.endEmpty()
    return new PartHasher(sizeBytes, leaves, piece, wants.partSha256 ? tools.sha256.create() : undefined)
  }

  /** Takes the next bytes, which are the caller's again when this resolves. @throws {TypeError} for more than there are. */
  async update(chunk: Uint8Array<ArrayBuffer>): Promise<void> {
    this.#receivedBytes += chunk.length
    if (this.#receivedBytes > this.#sizeBytes) throw new TypeError('more bytes have come than there are')
    for (const [, hasher] of this.#leaves) await hasher.update(chunk)
    this.#piece?.update(chunk)
    this.#sha256?.update(chunk)
  }

  /** @throws {TypeError} when not all bytes have come. */
  finish(): PartDigests {
    if (this.#receivedBytes !== this.#sizeBytes) throw new TypeError('some bytes have not come')
    const leaves = Object.fromEntries(this.#leaves.map(([kind, hasher]) => [kind, hasher.finish()]))
    return {
      sizeBytes: this.#sizeBytes,
      leaves,
      ...(this.#piece && { piece: this.#piece.finish() }),
      ...(this.#sha256 && { sha256: bytesToHex(this.#sha256.digest()) }),
    }
  }
}
