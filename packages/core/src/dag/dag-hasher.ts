import { DagLayout } from './dag-layout.ts'
import { foldLeaves } from './fold-leaves.ts'
import type { ImportProfile } from './import-profile.ts'
import type { ImportedDag } from './imported-dag.ts'
import type { Sha256 } from './sha256.ts'
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
/** Room for digests to begin with; what a file needs is not reserved on the word of its sender. */
const FIRST_ROOM_LEAVES = 64

/**
 * A file's bytes as UnixFS DAGs, while they arrive.
 *
 * Bytes are read once, in chunks of any size, and are neither copied nor kept: a chunk is free again when `update` returns,
 * and may lie in shared memory. What is kept is 32 bytes for each leaf that has arrived, and `finish` makes the levels above.
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
  readonly #fullLeaf: LeafWrapping
  #leafDigests: Uint8Array
  #leafIndex = 0
  /** The leaf that has begun in one chunk and ends in a later one. */
  #open: { readonly hash: ReturnType<Sha256['create']>; filledBytes: number } | undefined
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
    this.#fullLeaf = wrappingFor(first.profile, chunkBytes)
    this.#leafDigests = new Uint8Array(Math.min(first.leafCount, FIRST_ROOM_LEAVES) * DIGEST_BYTES)
    // No chunk will come to end this leaf.
    if (sizeBytes === 0) this.#keep(this.#hashLeaf(new Uint8Array()))
  }

  /** Takes the next bytes of the file. More than were declared are counted, for `finish` to refuse. */
  update(chunk: Uint8Array): void {
    this.#receivedBytes += chunk.length
    let offset = 0
    while (offset < chunk.length && this.#leafIndex < this.#first.leafCount) {
      const leafBytes = this.#leafBytes()
      const missingBytes = leafBytes - (this.#open?.filledBytes ?? 0)
      const part = chunk.subarray(offset, offset + missingBytes)
      offset += part.length
      if (part.length === leafBytes) this.#keep(this.#hashLeaf(part))
      else this.#fill(part, leafBytes)
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
    const leafDigests = this.#leafDigests.subarray(0, this.#leafIndex * DIGEST_BYTES)
    return this.#layouts.map((layout) => foldLeaves(layout, leafDigests, this.#sha256))
  }

  #fill(part: Uint8Array, leafBytes: number): void {
    const { prefix, suffix } = this.#wrappingOf(leafBytes)
    if (this.#open === undefined) {
      this.#open = { hash: this.#sha256.create(), filledBytes: 0 }
      this.#open.hash.update(prefix)
    }
    this.#open.hash.update(part)
    this.#open.filledBytes += part.length
    if (this.#open.filledBytes < leafBytes) return
    this.#open.hash.update(suffix)
    this.#keep(this.#open.hash.digest())
    this.#open = undefined
  }

  #hashLeaf(chunk: Uint8Array): Uint8Array {
    if (this.#first.profile.leaves === 'raw') return this.#sha256.of(chunk)
    const { prefix, suffix } = this.#wrappingOf(chunk.length)
    const hash = this.#sha256.create()
    hash.update(prefix)
    hash.update(chunk)
    hash.update(suffix)
    return hash.digest()
  }

  #keep(digest: Uint8Array): void {
    const at = this.#leafIndex * DIGEST_BYTES
    if (at === this.#leafDigests.length) {
      const more = new Uint8Array(Math.min(2 * at, this.#first.leafCount * DIGEST_BYTES))
      more.set(this.#leafDigests)
      this.#leafDigests = more
    }
    this.#leafDigests.set(digest, at)
    this.#leafIndex += 1
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
