import type { NewAuditEntry } from './audit-log-records.ts'

/** Names bytes in the blob store: their digest, and which upload put them there. */
export interface BlobName {
  readonly sha256: string
  /** Empty where a digest has one place, as on a disk, and for what was put before puts had names. */
  readonly put: string
}

/** What the blob store should hold under a digest. */
export interface BlobInRecords extends BlobName {
  readonly sizeBytes: number
}

/** The records' side of a comparison with the blob store, blob by blob. */
export interface InventoryRecords {
  /** What objects have in the blob store, in ascending order of digest from the first greater than `after`. */
  stored(request: { after: string; limit: number }): Promise<readonly BlobInRecords[]>
  /** Of these digests those that an object, an upload under way or a planned removal names. */
  known(digests: readonly string[]): Promise<readonly string[]>
  /** Where a digest is read: the put that its object has, else those that uploads have claimed and may have made readable. */
  puts(sha256: string): Promise<readonly string[]>
  /**
   * Has an object read from a put that is in the store, since the one that it should have is not: these records are an older copy of
   * themselves, or the store was filled by somebody else. Does nothing when it has another put by now, or this one is being removed.
   */
  usePut(request: BlobName & { missing: string }): Promise<boolean>
  /** After all bytes were brought to a store in which a digest has one place. */
  forgetPuts(): Promise<void>
  /**
   * Plans the removal at `dueAt` of bytes that are in the store and that no object and no claim needs. An upload of the same bytes calls it
   * off.
   *
   * @returns false when they are needed, or their removal is planned already.
   */
  planOrphan(request: BlobName & { readonly now: number; readonly dueAt: number }): Promise<boolean>
  /** Calls off the removal of all orphans. */
  letOrphansBe(): Promise<void>
  /**
   * Makes orphans of what uploads had claimed and of what was to be removed, all due at `dueAt`: of an older copy of the records nobody
   * knows whether these bytes were acknowledged later. No instance may live.
   */
  keepAsOrphans(request: { readonly now: number; readonly dueAt: number }): Promise<void>
  /** How many orphans wait for their removal. */
  orphans(): Promise<number>
  /** How far a job that goes on and on has got, in its own words; undefined at first. */
  mark(name: string): Promise<string | undefined>
  /** @param request.audit - added to the audit log with it. */
  setMark(request: { name: string; value: string; audit?: NewAuditEntry | undefined }): Promise<void>
}
