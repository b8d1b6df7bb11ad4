import { DagLayout } from './dag-layout.ts'
import { foldLeaves } from './fold-leaves.ts'
import type { ImportProfile } from './import-profile.ts'
import type { ImportedDag } from './imported-dag.ts'
import { type Sha256, type Sha256Stream, streamOf } from './sha256.ts'
import { DIGEST_BYTES, type LeafWrapping, wrapLeaf } from './unixfs-node.ts'

export interface DagHasherOptions {
  /** One or more, all of one chunk size and one kind of leaf: they share the leaves, which are hashed once. */
  readonly profiles: readonly ImportProfile[]
  /** The exact length of the file. */
  readonly sizeBytes: number
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
 * @example
 * const hasher = new DagHasher({ profiles: [IMPORT_PROFILES['unixfs-v0-2015']], sizeBytes: 11, sha256 })
 * hasher.update(new TextEncoder().encode('hello world'))
 * const [dag] = hasher.finish() // its root is that of Qmf412jQZiuVUtdgnB36FXFX7xg5V6KEbSJ4dpQuhkLyfD
 */
export class DagHasher {
  readonly #layouts: readonly DagLayout[]
  readonly #first: DagLayout
  readonly #sha256: Sha256
  readonly #leaves: Sha256Stream
  readonly #fullLeaf: LeafWrapping
  /** Pages never move, since a digest may be put into its place long after its leaf has ended. */
  readonly #pages: Uint8Array[] = []
  #leafIndex = 0
  /** How much is there of the chunk in the leaf that is being filled. */
  #filledBytes = 0
  #receivedBytes = 0

  /** @throws {TypeError} when there is no profile, they do not share their leaves, or `sizeBytes` is no byte count. */
  constructor({ profiles, sizeBytes, sha256 }: DagHasherOptions) {
    this.#layouts = profiles.map((profile) => new DagLayout(profile, sizeBytes))
    const [first] = this.#layouts
    if (first === undefined) throw new TypeError('There is no profile to build a DAG by')
    const { chunkBytes, leaves } = first.profile
    if (profiles.some((profile) => profile.chunkBytes !== chunkBytes || profile.leaves !== leaves)) {
      throw new TypeError('The profiles differ in their leaves')
    }
    this.#first = first
    this.#sha256 = sha256
    this.#leaves = streamOf(sha256)
    this.#fullLeaf = wrappingFor(first.profile, chunkBytes)
    // No chunk will come to end this leaf.
    if (sizeBytes === 0) this.#fill(new Uint8Array())
  }

  /** Takes the next bytes of the file. More than were declared are counted, for `finish` to refuse. */
  update(chunk: Uint8Array): void {
    this.#receivedBytes += chunk.length
    let offset = 0
    while (offset < chunk.length && this.#leafIndex < this.#first.leafCount) {
      const part = chunk.subarray(offset, offset + this.#leafBytes() - this.#filledBytes)
      offset += part.length
      this.#fill(part)
    }
  }

  /**
   * The DAGs of the file, in the order of the profiles.
   *
   * @throws {TypeError} when more or fewer bytes came than were declared.
   */
  finish(): ImportedDag[] {
    const { sizeBytes } = this.#first
    if (this.#receivedBytes !== sizeBytes) {
      throw new TypeError(`${this.#receivedBytes} bytes came of a file of ${sizeBytes}`)
    }
    const leafDigests = this.#leafDigests()
    return this.#layouts.map((layout) => foldLeaves(layout, leafDigests, this.#sha256))
  }

  /** Takes the next bytes of one leaf, up to its end at most. */
  #fill(part: Uint8Array): void {
    const leafBytes = this.#leafBytes()
    const { prefix, suffix } = this.#wrappingOf(leafBytes)
    if (this.#filledBytes === 0 && prefix.length > 0) this.#leaves.update(prefix)
    this.#filledBytes += part.length
    if (this.#filledBytes < leafBytes) {
      this.#leaves.update(part)
      return
    }
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
      page = new Uint8Array(Math.min(this.#first.leafCount - this.#leafIndex, PAGE_LEAVES) * DIGEST_BYTES)
      this.#pages.push(page)
    }
    return page.subarray(at, at + DIGEST_BYTES)
  }

  #leafDigests(): Uint8Array {
    const digests = new Uint8Array(this.#leafIndex * DIGEST_BYTES)
    for (const [index, page] of this.#pages.entries()) digests.set(page, index * PAGE_LEAVES * DIGEST_BYTES)
    return digests
  }

  /** The length of the chunk in the leaf that is being filled. */
  #leafBytes(): number {
    const { sizeBytes, profile } = this.#first
    return Math.min(profile.chunkBytes, sizeBytes - this.#leafIndex * profile.chunkBytes)
  }

  #wrappingOf(chunkBytes: number): LeafWrapping {
    const { profile } = this.#first
    return chunkBytes === profile.chunkBytes ? this.#fullLeaf : wrappingFor(profile, chunkBytes)
  }
}

function wrappingFor({ leaves }: ImportProfile, chunkBytes: number): LeafWrapping {
  return leaves === 'raw' ? RAW : wrapLeaf(chunkBytes)
}
