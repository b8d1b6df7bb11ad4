import type { ObjectHandle, ObjectPart, RecordStore } from '../records/record-store.ts'

/** Where the bytes of an object are: in the records, in other objects, or in the blob store. */
export type ObjectPlace =
  | { readonly kind: 'inline'; readonly bytes: Uint8Array }
  | { readonly kind: 'parts'; readonly parts: readonly ObjectPart[] }
  | { readonly kind: 'blob' }

/** What finding a place asks of the records. */
export interface PlaceRecords {
  readonly files: Pick<RecordStore['files'], 'inlineBytes'>
  readonly compositions: Pick<RecordStore['compositions'], 'partsOf'>
}

/** Reads from the records where the bytes of an object are. Nothing is verified. @throws {LadeError} `storage_failed`. */
export async function findPlace({ files, compositions }: PlaceRecords, object: ObjectHandle): Promise<ObjectPlace> {
  const bytes = await files.inlineBytes(object)
  if (bytes !== undefined) return { kind: 'inline', bytes }
  const parts = await compositions.partsOf(object)
  return parts.length === 0 ? { kind: 'blob' } : { kind: 'parts', parts }
}
