import { DagLayout } from './dag-layout.ts'
import { foldLeaves } from './fold-leaves.ts'
import type { ImportProfile } from './import-profile.ts'
import type { ImportedDag } from './imported-dag.ts'
import { type Sha256, type Sha256Stream, streamOf } from './sha256.ts'
import { DIGEST_BYTES, type LeafWrapping, wrapLeaf } from './unixfs-node.ts'

export interface DagHasherOptions {
  /** One or more, all of one chunk size and one kind of leaf: they share the leaves, which are hashed once. */
  readonly profiles: readonly ImportProfile[]
  /** The exact length of the file. @default known at its end */
  readonly sizeBytes?: number | undefined
  readonly sha256: Sha256
}

/** Nothing stands around the chunk of a raw leaf. */
const RAW: LeafWrapping = { prefix: new Uint8Array(), suffix: new Uint8Array() }
/** Room for digests comes in pages, as leaves arrive: what a file needs is not reserved on the word of its sender. */
const PAGE_LEAVES = 256

/**
 * A file's bytes as UnixFS DAGs, while they arrive.
 *
 * Bytes are read once, in chunks of any size, and are neither copied nor kept: a chunk is free again when `update` returns,
 * and may lie in shared memory. What is kept is 32 bytes for each leaf that has arrived, and `finish` makes the levels above.
 *
 * With a `sha256` whose streams put their work off, a chunk is free once that is done, and it has to be done before `finish`.
 *
 * A wrapped leaf begins with its length. So of a file of unknown length, the bytes of the leaf that is not full are kept.
 *
 * @example
 * const hasher = new DagHasher({ profiles: [IMPORT_PROFILES['unixfs-v0-2015']], sizeBytes: 11, sha256 })
 * hasher.update(new TextEncoder().encode('hello world'))
 * const [dag] = hasher.finish() // its root is that of Qmf412jQZiuVUtdgnB36FXFX7xg5V6KEbSJ4dpQuhkLyfD
 */
export class DagHasher {
  readonly #profiles: readonly ImportProfile[]
  readonly #first: ImportProfile
  readonly #sizeBytes: number | undefined
  readonly #sha256: Sha256
  readonly #leaves: Sha256Stream
  readonly #fullLeaf: LeafWrapping
  /** Pages never move, since a digest may be put into its place long after its leaf has ended. */
  readonly #pages: Uint8Array[] = []
  /** What there is of a leaf whose length is not known. */
  #kept: Uint8Array[] = []
  #leafIndex = 0
  /** How much is there of the chunk in the leaf that is being filled. */
  #filledBytes = 0
  #receivedBytes = 0

  /** @throws {TypeError} when there is no profile, they do not share their leaves, or `sizeBytes` is no byte count. */
  constructor({ profiles, sizeBytes, sha256 }: DagHasherOptions) {
    const [first] = profiles
    if (first === undefined) throw new TypeError('There is no profile to build a DAG by')
    for (const profile of profiles) new DagLayout(profile, sizeBytes ?? 0)
    const { chunkBytes, leaves } = first
    if (profiles.some((profile) => profile.chunkBytes !== chunkBytes || profile.leaves !== leaves)) {
      throw new TypeError('The profiles differ in their leaves')
    }
    this.#profiles = profiles
    this.#first = first
    this.#sizeBytes = sizeBytes
    this.#sha256 = sha256
    this.#leaves = streamOf(sha256)
    this.#fullLeaf = wrappingFor(first, chunkBytes)
    // No chunk will come to end this leaf.
    if (sizeBytes === 0) this.#endLeaf(new Uint8Array(), 0)
  }

  /** Takes the next bytes of the file. More than were declared are counted, for `finish` to refuse. */
  update(chunk: Uint8Array): void {
    this.#receivedBytes += chunk.length
    let offset = 0
    while (offset < chunk.length) {
      const part = chunk.subarray(offset, offset + this.#leafBytes() - this.#filledBytes)
      if (part.length === 0) return
      offset += part.length
      this.#fill(part)
    }
  }

  /** Says that no bytes follow: to be called once for a file of unknown length, and harmless for others. */
  end(): void {
    const isEnded = this.#sizeBytes !== undefined || (this.#filledBytes === 0 && this.#leafIndex > 0)
    if (!isEnded) this.#endLeaf(new Uint8Array(), this.#filledBytes)
  }

  /**
   * The DAGs of the file, in the order of the profiles.
   *
   * @throws {TypeError} when more or fewer bytes came than were declared.
   */
  finish(): ImportedDag[] {
    const sizeBytes = this.#sizeBytes ?? this.#receivedBytes
    if (this.#receivedBytes !== sizeBytes) {
      throw new TypeError(`${this.#receivedBytes} bytes came of a file of ${sizeBytes}`)
    }
    const leafDigests = this.#leafDigests()
    return this.#profiles.map((profile) => foldLeaves(new DagLayout(profile, sizeBytes), leafDigests, this.#sha256))
  }

  /** Takes the next bytes of one leaf, up to its end at most. */
  #fill(part: Uint8Array): void {
    const leafBytes = this.#leafBytes()
    if (this.#filledBytes + part.length === leafBytes) {
      this.#endLeaf(part, leafBytes)
      return
    }
    if (this.#sizeBytes === undefined && this.#fullLeaf !== RAW) {
      this.#kept.push(new Uint8Array(part))
    } else {
      this.#begin(leafBytes)
      this.#leaves.update(part)
    }
    this.#filledBytes += part.length
  }

  /** What stands before the chunk of a leaf, unless the leaf has begun. */
  #begin(leafBytes: number): void {
    const { prefix } = this.#wrappingOf(leafBytes)
    if (this.#filledBytes - this.#keptBytes() === 0 && prefix.length > 0) this.#leaves.update(prefix)
  }

  #endLeaf(part: Uint8Array, leafBytes: number): void {
    const { suffix } = this.#wrappingOf(leafBytes)
    this.#begin(leafBytes)
    for (const kept of this.#kept) this.#leaves.update(kept)
    this.#kept = []
    const digest = this.#placeForDigest()
    if (suffix.length > 0) {
      this.#leaves.update(part)
      this.#leaves.end(suffix, digest)
    } else {
      this.#leaves.end(part, digest)
    }
    this.#leafIndex += 1
    this.#filledBytes = 0
  }

  #placeForDigest(): Uint8Array {
    const at = (this.#leafIndex % PAGE_LEAVES) * DIGEST_BYTES
    let page = this.#pages.at(-1)
    if (at === 0 || page === undefined) {
      page = new Uint8Array(Math.min(this.#leavesLeft(), PAGE_LEAVES) * DIGEST_BYTES)
      this.#pages.push(page)
    }
    return page.subarray(at, at + DIGEST_BYTES)
  }

  #leafDigests(): Uint8Array {
    const digests = new Uint8Array(this.#leafIndex * DIGEST_BYTES)
    for (const [index, page] of this.#pages.entries()) {
      const at = index * PAGE_LEAVES * DIGEST_BYTES
      digests.set(page.subarray(0, digests.length - at), at)
    }
    return digests
  }

  /** The length of the chunk in the leaf that is being filled, as far as it is known. */
  #leafBytes(): number {
    const { chunkBytes } = this.#first
    return Math.min(chunkBytes, (this.#sizeBytes ?? Infinity) - this.#leafIndex * chunkBytes)
  }

  #leavesLeft(): number {
    return Math.max(1, Math.ceil((this.#sizeBytes ?? Infinity) / this.#first.chunkBytes)) - this.#leafIndex
  }

  #keptBytes(): number {
    return this.#kept.reduce((sum, kept) => sum + kept.length, 0)
  }

  #wrappingOf(chunkBytes: number): LeafWrapping {
    return chunkBytes === this.#first.chunkBytes ? this.#fullLeaf : wrappingFor(this.#first, chunkBytes)
  }
}

function wrappingFor({ leaves }: ImportProfile, chunkBytes: number): LeafWrapping {
  return leaves === 'raw' ? RAW : wrapLeaf(chunkBytes)
}
