import {
  DagLayout,
  encodeBlock,
  IMPORT_PROFILES,
  type ImportProfile,
  type ImportProfileName,
} from '@lade/core/dag/import'

/** The kinds of leaf that import profiles cut a file into. Profiles of one kind differ in the tree above it only. */
export type LeafKind = 'raw-1m' | 'raw-256k' | 'dag-pb-256k'

/** One-shot sha2-256 of a block, 32 bytes. */
export type Digest = (block: Uint8Array<ArrayBuffer>) => Uint8Array | Promise<Uint8Array>

const KIND_OF = {
  'unixfs-v0-2015': 'dag-pb-256k',
  'unixfs-v1-2025': 'raw-1m',
  'raw-256k-174': 'raw-256k',
  'raw-1m-174': 'raw-1m',
} as const satisfies Record<ImportProfileName, LeafKind>

const PROFILE_OF: Readonly<Record<LeafKind, ImportProfile>> = {
  'raw-1m': IMPORT_PROFILES['unixfs-v1-2025'],
  'raw-256k': IMPORT_PROFILES['raw-256k-174'],
  'dag-pb-256k': IMPORT_PROFILES['unixfs-v0-2015'],
}

const DIGEST_BYTES = 32

export function leafKindOf(profile: ImportProfileName): LeafKind {
  return KIND_OF[profile]
}

/**
 * The digests of the leaves of a file, while its bytes arrive in chunks of any size.
 *
 * Unlike core's `DagHasher` it waits for each digest, so that a browser's own sha2-256 can do the work, which is several
 * times as fast as any in JavaScript and has no running form.
 */
export class LeafHasher {
  readonly #layout: DagLayout
  readonly #digest: Digest
  readonly #digests: Uint8Array<ArrayBuffer>
  #leafIndex = 0
  /** Where a leaf is gathered that comes in several chunks. */
  #gathered = new Uint8Array(0)
  #gatheredBytes = 0

  /** @param sizeBytes - of the file. */
  constructor(kind: LeafKind, sizeBytes: number, digest: Digest) {
    this.#layout = new DagLayout(PROFILE_OF[kind], sizeBytes)
    this.#digest = digest
    this.#digests = new Uint8Array(this.#layout.leafCount * DIGEST_BYTES)
  }

  /** Takes the next bytes; the chunk is free again when this resolves. @throws {TypeError} for more bytes than the file has. */
  async update(chunk: Uint8Array<ArrayBuffer>): Promise<void> {
    for (let at = 0; at < chunk.length; ) {
      const leafBytes = this.#layout.node(this.#leafIndex).lengthBytes
      const bytes = chunk.subarray(at, at + leafBytes - this.#gatheredBytes)
      at += bytes.length
      if (bytes.length === leafBytes) {
        await this.#end(bytes)
        continue
      }
      if (this.#gathered.length < leafBytes) this.#gathered = new Uint8Array(leafBytes)
      this.#gathered.set(bytes, this.#gatheredBytes)
      this.#gatheredBytes += bytes.length
      if (this.#gatheredBytes === leafBytes) await this.#end(this.#gathered.subarray(0, leafBytes))
    }
  }

  /** Ends the one leaf of an empty file, for which no chunk comes. */
  async endEmpty(): Promise<void> {
    await this.#end(new Uint8Array())
  }

  /** The digest of every leaf, 32 bytes each, once all bytes have come. */
  finish(): Uint8Array<ArrayBuffer> {
    if (this.#leafIndex !== this.#layout.leafCount) throw new TypeError('some bytes of the file have not come')
    return this.#digests
  }

  async #end(chunk: Uint8Array<ArrayBuffer>): Promise<void> {
    const block = encodeBlock(this.#layout, this.#leafIndex, { chunk }) as Uint8Array<ArrayBuffer>
    this.#digests.set(await this.#digest(block), this.#leafIndex * DIGEST_BYTES)
    this.#leafIndex += 1
    this.#gatheredBytes = 0
  }
}
