import type { BlobLocation, BlobStore, LocationHeaders } from '../blobs/blob-store.ts'
import { sha256Of } from '../records/object-handle.ts'
import type { RecordStore } from '../records/record-store.ts'
import type { FoundFile } from './find-file.ts'
import { findPlace, type ObjectPlace, type PlaceRecords } from './find-place.ts'

/** Below this, finding the way to the bytes costs more than reading them. */
export const MIN_LOCATED_BYTES = 262_144

export interface LocateFileDeps {
  readonly records: PlaceRecords & { readonly integrity: Pick<RecordStore['integrity'], 'damageOf'> }
  /** Undefined when no storage backend is bound. */
  readonly blobs: BlobStore | undefined
}

/**
 * Where a reader finds the bytes of a file by himself: only for a file of some size that is one whole blob, and not for one
 * that is kept in the records, composed of others, or inside a CAR.
 *
 * The blob is there and of the right size when this is answered. Nobody has looked at its bytes since.
 *
 * @param headers - what a URL is to answer with.
 * @param find - answers what was found of the object before. @default asks the records
 * @returns undefined where the bytes have to be read here; so do those that are missing, and the reading says it.
 * @throws {LadeError} `storage_failed`.
 */
export async function locateFile(
  { records, blobs }: LocateFileDeps,
  { file, view }: FoundFile,
  headers: LocationHeaders,
  find: () => Promise<ObjectPlace> = () => findPlace(records, file.object),
): Promise<BlobLocation | undefined> {
  if (blobs?.locate === undefined || view === 'unixfs' || file.sizeBytes < MIN_LOCATED_BYTES) return undefined
  const sha256 = sha256Of(file.object)
  if (sha256 === null) return undefined
  if ((await find()).kind !== 'blob') return undefined
  // A reader here is told; who sends the bytes by himself does not look at them.
  if ((await records.integrity.damageOf(file.object)) !== undefined) return undefined
  const stored = await blobs.stat(sha256)
  return stored?.sizeBytes === file.sizeBytes ? blobs.locate(sha256, headers) : undefined
}
