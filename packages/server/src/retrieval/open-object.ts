import { LadeError } from '@lade/core/errors'
import type { BlobBody, BlobStore } from '../blobs/blob-store.ts'
import { sha256Of } from '../records/object-handle.ts'
import type { ObjectHandle, RecordStore } from '../records/record-store.ts'
import { composedBody } from './composed-body.ts'

/** An object's bytes, in memory when it is small enough to live in the metadata. */
export type OpenObject =
  | { readonly kind: 'inline'; readonly bytes: Uint8Array }
  | { readonly kind: 'blob'; readonly body: BlobBody }

/** An object, by what the records say of it. */
export interface ObjectId {
  readonly object: ObjectHandle
  readonly sizeBytes: number
}

export interface OpenObjectDeps {
  readonly records: RecordStore
  readonly blobs: BlobStore
}

/** An object of which only a slice is known, and so not how many bytes there are in all. */
export interface SlicedObjectId {
  readonly object: ObjectHandle
  readonly sizeBytes?: undefined
}

/**
 * Opens the bytes of an object that a live file needs. The caller closes a blob's body.
 *
 * The parts of a composed object are opened one after the other, as they are read: when the file is removed meanwhile,
 * reading ends by `storage_failed`.
 *
 * @throws {LadeError} `storage_failed` when the record promises bytes that the store does not have.
 */
export async function openObject(deps: OpenObjectDeps, id: ObjectId | SlicedObjectId): Promise<OpenObject> {
  const { files, compositions } = deps.records
  const bytes = await files.inlineBytes(id.object)
  if (bytes !== undefined) return { kind: 'inline', bytes }
  const parts = await compositions.partsOf(id.object)
  if (parts.length === 0) return { kind: 'blob', body: await openBlob(deps, id) }
  const body = composedBody(parts, (part) => openSimple(deps, part))
  if (!isOfSize(body, id)) throw failed(id, 'composed of parts of another size')
  return { kind: 'blob', body }
}

/** Opens an object that is not composed. */
async function openSimple(deps: OpenObjectDeps, id: ObjectId): Promise<OpenObject> {
  const bytes = await deps.records.files.inlineBytes(id.object)
  return bytes === undefined ? { kind: 'blob', body: await openBlob(deps, id) } : { kind: 'inline', bytes }
}

async function openBlob({ blobs }: OpenObjectDeps, id: ObjectId | SlicedObjectId): Promise<BlobBody> {
  const sha256 = sha256Of(id.object)
  const body = sha256 === null ? undefined : await blobs.open(sha256)
  if (body !== undefined && isOfSize(body, id)) return body
  await body?.close()
  throw failed(id, body === undefined ? 'missing' : 'of another size')
}

function isOfSize(body: BlobBody, { sizeBytes }: ObjectId | SlicedObjectId): boolean {
  return sizeBytes === undefined || body.sizeBytes === sizeBytes
}

function failed({ object }: ObjectId | SlicedObjectId, what: string): LadeError<'storage_failed'> {
  const cause = new Error(`object ${object} is ${what}`)
  return new LadeError('storage_failed', { retryAfterSeconds: 60 }, { cause })
}
