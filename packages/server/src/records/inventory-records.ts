/** What the blob store should hold under a digest. */
export interface BlobInRecords {
  readonly sha256: string
  readonly sizeBytes: number
}

/** The records' side of a comparison with the blob store, blob by blob. */
export interface InventoryRecords {
  /** What objects have in the blob store, in ascending order of digest from the first greater than `after`. */
  stored(request: { after: string; limit: number }): Promise<readonly BlobInRecords[]>
  /** Plans the removal of bytes that are in the store and that no object and no claim needs; false when they are needed. */
  adopt(request: { sha256: string; now: number }): Promise<boolean>
  /** How far a job that goes on and on has got, in its own words; undefined at first. */
  mark(name: string): Promise<string | undefined>
  setMark(request: { name: string; value: string }): Promise<void>
}
