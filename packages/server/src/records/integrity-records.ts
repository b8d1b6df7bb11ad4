import type { ObjectHandle } from './content-records.ts'

/**
 * What is wrong with the bytes of an object. `wrong`: its blob holds other bytes and was left in its place. `missing`: its blob is not
 * there, or has another size. `inline`: its bytes in the records are wrong.
 */
export type DamageKind = 'wrong' | 'missing' | 'inline'

/** An object whose bytes are known to be damaged. */
export interface DamagedObject {
  readonly object: ObjectHandle
  readonly kind: DamageKind
  /** When it was noticed first; epoch milliseconds. */
  readonly noticedAt: number
}

/** Bytes that are kept in the records. */
export interface InlineObject {
  readonly sha256: string
  readonly sizeBytes: number
  readonly bytes: Uint8Array
}

/** Some objects in the order of their digests. */
export interface InlinePage {
  /** Those whose bytes are in the records. */
  readonly objects: readonly InlineObject[]
  /** The digest of the last object that was looked at; undefined when there is none. */
  readonly last: string | undefined
}

/** A blob without recorded digests of its chunks. */
export interface BlobWithoutChunks {
  /** The number of its object. */
  readonly number: number
  readonly sha256: string
  readonly sizeBytes: number
}

/** How far rows of an older version have been sealed. */
export interface SealPlace {
  readonly alias: string
  readonly name: string
  readonly whole: number
}

/** How stored bytes are verified in part, and which of them are known to be damaged. */
export interface IntegrityRecords {
  /**
   * The sha2-256 of chunks of 1 MiB of a blob, 32 bytes each, from the chunk number `from` on: `count` of them, or as many as there
   * are. Undefined for a blob without them: one of a single chunk, or one that an older version stored.
   */
  chunkDigests(request: { sha256: string; from: number; count: number }): Promise<Uint8Array | undefined>
  /** Records the digests of all chunks of a blob, in the place of those that were known. Does nothing for an object without a blob. */
  setChunkDigests(request: { sha256: string; digests: Uint8Array }): Promise<void>
  /** Blobs of more than one chunk whose digests are not recorded, in the order of their objects, behind the number `afterObject`. */
  withoutChunks(request: { afterObject: number; limit: number }): Promise<readonly BlobWithoutChunks[]>
  withoutChunksCount(): Promise<number>
  /**
   * Looks at `limit` objects in ascending order of digest, from the first greater than `after` to the last less than `before`, for those
   * whose bytes are in the records.
   */
  inlineObjects(request: { after: string; before: string; limit: number }): Promise<InlinePage>
  /** Remembers an object as damaged; what was noticed first stays. Does nothing for an object without bytes. */
  setDamaged(request: { object: ObjectHandle; kind: DamageKind; now: number }): Promise<void>
  /** Forgets the damage of an object whose bytes were seen to be right. A commit of verified bytes does that by itself. */
  clearDamaged(object: ObjectHandle): Promise<void>
  /** The damage that an object is known to have. */
  damageOf(object: ObjectHandle): Promise<DamageKind | undefined>
  /** Objects that are known to be damaged, oldest first. */
  damaged(request: { limit: number }): Promise<readonly DamagedObject[]>
  damagedCount(): Promise<number>
  /**
   * Adds the checksum to rows of an older version that lead from names to objects, `limit` of each kind. Answers where to go on; undefined
   * when all were looked at.
   */
  sealRows(request: { after: SealPlace; limit: number }): Promise<SealPlace | undefined>
}
