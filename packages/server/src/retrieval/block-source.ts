import { MAX_BLOCK_BYTES } from '@lade/core/content'
import { DagLayout, encodeBlock, IMPORT_PROFILES, type ImportProfileName } from '@lade/core/dag'
import { LadeError } from '@lade/core/errors'
import { blockDigestInTurns } from '@lade/node/hashing/block-hash'
import type { CID } from 'multiformats/cid'
import type { BlobStore } from '../blobs/blob-store.ts'
import { blockedError } from '../moderation/content-block.ts'
import type { Moderation } from '../moderation/moderation.ts'
import type { BlockPlace, ObjectHandle, RecordStore } from '../records/record-store.ts'
import { OpenObjects } from './open-objects.ts'

/** The multihash code of identity: the digest is the block. */
const IDENTITY = 0x00

type NodePlace = Extract<BlockPlace, { readonly kind: 'node' }>

export interface BlockSourceDeps {
  readonly records: RecordStore
  /** Undefined when no storage backend is bound. */
  readonly blobs: BlobStore | undefined
  readonly now: () => number
  readonly moderation: Pick<Moderation, 'content'>
  /** Only blocks of this object are found, whoever may see it. @default those of all public files */
  readonly within?: ObjectHandle | undefined
  /** True where that is the object of a folder: blocks of its files are found as well. @default false */
  readonly hasMembers?: boolean | undefined
}

/** A block that is here. */
export interface FoundBlock {
  readonly cid: CID
  readonly sizeBytes: number
  readonly place: BlockPlace | { readonly kind: 'identity' }
}

/**
 * Any block of what is staged, by its CID: an object that is the block, a part of a CAR, or a block of a file's DAG, which
 * is made again from the file and the digests that were kept. Of files that are live and public, unless `within` says more.
 *
 * A block is hashed again before it is handed out, whichever way it came. Objects stay open between reads; close the source
 * in the end. For one caller at a time.
 */
export class BlockSource {
  readonly #deps: BlockSourceDeps
  readonly #objects: OpenObjects
  readonly #layouts = new Map<number, DagLayout>()
  /** The object that the last block was found in, where the next one mostly is, too; it is one that may be looked into. */
  #latest: ObjectHandle | undefined

  constructor(deps: BlockSourceDeps) {
    this.#deps = deps
    this.#objects = new OpenObjects(deps)
  }

  /**
   * Where the block is, and how big; undefined when it is not here.
   *
   * An object that is bigger than blocks may be is found as well. It cannot be read here, and is a block in name only: as
   * raw bytes it may be streamed to whoever asks for it.
   *
   * @throws {LadeError} `blocked`, also where only blocked objects have the block; `storage_offline`, but not for the CIDs that carry their
   *   block.
   */
  async find(cid: CID): Promise<FoundBlock | undefined> {
    this.#refuse(cid)
    if (cid.multihash.code === IDENTITY) {
      return { cid, sizeBytes: cid.multihash.digest.length, place: { kind: 'identity' } }
    }
    const { records, blobs, now, within, hasMembers } = this.#deps
    if (blobs === undefined) throw new LadeError('storage_offline', { retryAfterSeconds: 60 })
    const request = { multihash: cid.multihash.bytes, now: now() }
    const near = within ?? this.#latest
    let place = near === undefined ? undefined : await records.blocks.find({ ...request, within: near, hasMembers })
    if (place === undefined && within === undefined) place = await records.blocks.find(request)
    if (place === undefined) await this.#refuseHidden(cid)
    // The object that the last block was found in, and the one of a file that was found before, may have been blocked since.
    else if (this.#deps.moderation.content.isTakenDown(place.object)) throw blockedError()
    this.#latest = place?.object ?? this.#latest
    return place === undefined ? undefined : { cid, sizeBytes: this.#sizeOf(place), place }
  }

  /**
   * The bytes of a block that was found.
   *
   * @throws {LadeError} `storage_failed` when they are not to be had, or do not hash to the CID.
   * @throws {TypeError} when it is bigger than blocks may be.
   */
  async read({ cid, place, sizeBytes }: FoundBlock): Promise<Uint8Array> {
    if (place.kind === 'identity') return cid.multihash.digest
    if (sizeBytes > MAX_BLOCK_BYTES) throw new TypeError(`A block of ${sizeBytes} bytes is not read into memory`)
    const bytes = await this.#bytesOf(place)
    const digest = await blockDigestInTurns(cid.multihash.code, bytes)
    if (digest === undefined || Buffer.compare(digest, cid.multihash.digest) !== 0) {
      throw failed(`the block ${cid} in the object ${place.object} does not hash to its CID`)
    }
    return bytes
  }

  /** The bytes of a block, or undefined when there is no such block here. As `find` and `read`. */
  async get(cid: CID): Promise<Uint8Array | undefined> {
    const found = await this.find(cid)
    return found === undefined || found.sizeBytes > MAX_BLOCK_BYTES ? undefined : this.read(found)
  }

  /** Closes what is open. */
  close(): Promise<void> {
    return this.#objects.close()
  }

  #refuse({ multihash, code }: CID): void {
    if (this.#deps.moderation.content.ofMultihash(multihash.bytes, { codecs: [code] }) !== undefined)
      throw blockedError()
  }

  /** Blocks of blocked objects are not found. */
  async #refuseHidden({ multihash }: CID): Promise<void> {
    const { records, moderation } = this.#deps
    if (!moderation.content.hasTakenDownObjects) return
    if (await records.takedowns.hasBlock(multihash.bytes)) throw blockedError()
  }

  #sizeOf(place: BlockPlace): number {
    switch (place.kind) {
      case 'object':
        return place.sizeBytes
      case 'slice':
        return place.lengthBytes
      case 'node':
        return this.#layoutOf(place).node(place.node).blockBytes
    }
  }

  async #bytesOf(place: BlockPlace): Promise<Uint8Array> {
    switch (place.kind) {
      case 'object':
        return this.#objects.read(place, { offset: 0, length: place.sizeBytes })
      case 'slice':
        return this.#objects.read(place, { offset: place.offsetBytes, length: place.lengthBytes })
      case 'node':
        return this.#makeNode(place)
    }
  }

  async #makeNode(place: NodePlace): Promise<Uint8Array> {
    const layout = this.#layoutOf(place)
    const { kind, offsetBytes, lengthBytes, firstChild, childCount } = layout.node(place.node)
    if (kind !== 'interior') {
      const chunk = await this.#objects.read(place, { offset: offsetBytes, length: lengthBytes })
      return encodeBlock(layout, place.node, { chunk })
    }
    const wanted = { dag: place.dag, from: firstChild, count: childCount }
    const childDigests = await this.#deps.records.blocks.digests(wanted)
    if (childDigests === undefined) throw failed(`the digests of DAG ${place.dag} are gone`)
    return encodeBlock(layout, place.node, { childDigests })
  }

  #layoutOf({ dag, profile, sizeBytes }: NodePlace): DagLayout {
    const known = this.#layouts.get(dag)
    if (known !== undefined) return known
    const layout = new DagLayout(IMPORT_PROFILES[profile as ImportProfileName], sizeBytes)
    this.#layouts.set(dag, layout)
    return layout
  }
}

function failed(what: string): LadeError<'storage_failed'> {
  return new LadeError('storage_failed', { retryAfterSeconds: 60 }, { cause: new Error(what) })
}
