import { LadeError } from '@lade/core/errors'
import { sha256Hex } from '@lade/node/hashing/sha256'
import type { BlobBody, BlobStore } from '../blobs/blob-store.ts'
import { sha256Of } from '../records/object-handle.ts'
import type { ObjectHandle, ObjectPart, RecordStore } from '../records/record-store.ts'
import { composedBody } from './composed-body.ts'
import { findPlace, type ObjectPlace } from './find-place.ts'
import type { OpenObject } from './open-bytes.ts'

/** How many parts of a composed object are asked for at a time. */
const PARTS_CHECKED_TOGETHER = 16

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
 * Bytes in the records are verified here, those of a blob as they are read.
 *
 * @param find - answers what was found of the object before. @default asks the records
 * @throws {LadeError} `storage_failed` when the record promises bytes that the store does not have, and for bytes in the records that are
 *   wrong.
 */
export async function openObject(
  deps: OpenObjectDeps,
  id: ObjectId | SlicedObjectId,
  find: () => Promise<ObjectPlace> = () => findPlace(deps.records, id.object),
): Promise<OpenObject> {
  const place = await find()
  if (place.kind === 'inline') return openInline(deps, id, place.bytes)
  if (place.kind === 'blob') return { kind: 'blob', body: await openBlob(deps, id) }
  const body = composedBody(place.parts, (part) => openSimple(deps, part))
  if (!isOfSize(body, id)) throw failed(id, 'composed of parts of another size')
  return { kind: 'blob', body }
}

/**
 * Resolves when the bytes of an object are where they should be, of the size that is recorded, and not known to be damaged: what an answer
 * without a body needs to know. Bytes in the records are verified, blobs are not read.
 *
 * @throws {LadeError} `storage_failed` otherwise.
 */
export async function checkObject(deps: OpenObjectDeps, id: ObjectId): Promise<void> {
  const place = await findPlace(deps.records, id.object)
  if (place.kind === 'inline') {
    openInline(deps, id, place.bytes)
    return
  }
  if (place.kind === 'blob') return checkBlob(deps, id)
  const { parts } = place
  if (sizeOf(parts) !== id.sizeBytes) throw failed(id, 'composed of parts of another size')
  for (let at = 0; at < parts.length; at += PARTS_CHECKED_TOGETHER) {
    await Promise.all(parts.slice(at, at + PARTS_CHECKED_TOGETHER).map((part) => checkPart(deps, part)))
  }
}

async function checkPart(deps: OpenObjectDeps, part: ObjectPart): Promise<void> {
  const bytes = await deps.records.files.inlineBytes(part.object)
  if (bytes === undefined) await checkBlob(deps, part)
  else openInline(deps, part, bytes)
}

async function checkBlob({ records, blobs }: OpenObjectDeps, id: ObjectId): Promise<void> {
  const sha256 = sha256Of(id.object)
  const stored = sha256 === null ? undefined : await blobs.stat(sha256)
  if (stored?.sizeBytes !== id.sizeBytes) {
    if (sha256 !== null) blobs.reportFault?.({ kind: 'missing', sha256 })
    throw failed(id, stored === undefined ? 'missing' : 'of another size')
  }
  if ((await records.integrity.damageOf(id.object)) !== 'wrong') return
  // It may have been repaired behind the service's back.
  if (sha256 !== null) blobs.reportFault?.({ kind: 'wrong', sha256 })
  throw failed(id, 'known to be damaged')
}

/** Opens an object that is not composed. */
async function openSimple(deps: OpenObjectDeps, id: ObjectId): Promise<OpenObject> {
  const bytes = await deps.records.files.inlineBytes(id.object)
  return bytes === undefined ? { kind: 'blob', body: await openBlob(deps, id) } : openInline(deps, id, bytes)
}

function openInline({ blobs }: OpenObjectDeps, id: ObjectId | SlicedObjectId, bytes: Uint8Array): OpenObject {
  const sha256 = sha256Of(id.object)
  const isOfSize = id.sizeBytes === undefined || bytes.length === id.sizeBytes
  if (isOfSize && sha256 !== null && sha256Hex(bytes) === sha256) return { kind: 'inline', bytes }
  if (sha256 !== null) blobs.reportFault?.({ kind: 'inline', sha256 })
  throw failed(id, 'damaged in the records')
}

async function openBlob({ blobs }: OpenObjectDeps, id: ObjectId | SlicedObjectId): Promise<BlobBody> {
  const sha256 = sha256Of(id.object)
  const body = sha256 === null ? undefined : await blobs.open(sha256)
  if (body !== undefined && isOfSize(body, id)) return body
  await body?.close()
  if (sha256 !== null) blobs.reportFault?.({ kind: 'missing', sha256 })
  throw failed(id, body === undefined ? 'missing' : 'of another size')
}

function sizeOf(parts: readonly ObjectPart[]): number {
  return parts.reduce((sum, part) => sum + part.sizeBytes, 0)
}

function isOfSize(body: BlobBody, { sizeBytes }: ObjectId | SlicedObjectId): boolean {
  return sizeBytes === undefined || body.sizeBytes === sizeBytes
}

function failed({ object }: ObjectId | SlicedObjectId, what: string): LadeError<'storage_failed'> {
  const reason = 'The stored bytes are damaged or missing. Uploading them again repairs them.'
  return new LadeError(
    'storage_failed',
    { retryAfterSeconds: 60, reason },
    { cause: new Error(`object ${object} is ${what}`) },
  )
}
