import type { BlobBody, BlobLocation, LocationHeaders } from '../blobs/blob-store.ts'

/** An object's bytes, in memory when it is small enough to live in the metadata. */
export type OpenObject =
  | { readonly kind: 'inline'; readonly bytes: Uint8Array }
  | { readonly kind: 'blob'; readonly body: BlobBody }

/** The bytes that one id of a file gives back. */
export interface FileContent {
  readonly sizeBytes: number
  /**
   * Opens the bytes, once. The caller closes a blob's body.
   *
   * @throws {LadeError} `storage_failed`.
   */
  open(): Promise<OpenObject>
  /**
   * Resolves when the bytes are there, as far as can be told without reading a blob.
   *
   * @throws {LadeError} `storage_failed`.
   */
  check(): Promise<void>
  /**
   * As `locateFile`, for content that is a whole object; absent for other content, which has to be read here.
   *
   * @throws {LadeError} `storage_failed`.
   */
  locate?(headers: LocationHeaders): Promise<BlobLocation | undefined>
  /** Gives back what was needed to learn the size. */
  close(): Promise<void>
}
