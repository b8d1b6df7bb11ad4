import { LadeError } from '@lade/core/errors'
import type { BlobBody, BlobStore } from '../blobs/blob-store.ts'
import type { RecordStore } from '../records/record-store.ts'

/** An object's bytes, in memory when it is small enough to live in the metadata. */
export type OpenObject =
  | { readonly kind: 'inline'; readonly bytes: Uint8Array }
  | { readonly kind: 'blob'; readonly body: BlobBody }

/** An object, by what the records say of it. */
export interface ObjectId {
  readonly sha256: string
  readonly sizeBytes: number
}

/**
 * Opens the bytes of an object that a live file needs. The caller closes a blob's body.
 *
 * @throws {LadeError} `storage_failed` when the record promises bytes that the store does not have.
 */
export async function openObject(
  deps: { readonly records: RecordStore; readonly blobs: BlobStore },
  { sha256, sizeBytes }: ObjectId,
): Promise<OpenObject> {
  const bytes = await deps.records.files.inlineBytes(sha256)
  if (bytes !== undefined) return { kind: 'inline', bytes }
  const body = await deps.blobs.open(sha256)
  if (body?.sizeBytes === sizeBytes) return { kind: 'blob', body }
  await body?.close()
  const cause = new Error(`object ${sha256} is ${body === undefined ? 'missing' : 'of another size'}`)
  throw new LadeError('storage_failed', { retryAfterSeconds: 60 }, { cause })
}
