import { checked } from './checked-bytes.ts'
import { abortUpload, type UploadName } from './multipart-upload.ts'
import type { S3Calls } from './s3-calls.ts'
import { unlessAbsent } from './s3-failure.ts'
import { deleteObject, putObject, readSmallObject } from './s3-objects.ts'

/**
 * Writes down which uploads belong to a pending blob, so that another process can end them.
 *
 * They cannot be found otherwise: an upload to the key of a blob does not say whose it is.
 */
export async function writeMarker(calls: S3Calls, key: string, uploads: readonly UploadName[]): Promise<void> {
  await putObject(calls, key, checked(Buffer.from(JSON.stringify({ uploads }))), { ifAbsent: false })
}

/** Ends every upload that the marker under `key` names, and then removes the marker. Can be repeated after any failure. */
export async function sweepMarker(calls: S3Calls, key: string): Promise<void> {
  const bytes = await unlessAbsent(() => readSmallObject(calls, key))
  for (const name of bytes === undefined ? [] : uploadsOf(bytes.toString())) await abortUpload(calls, name)
  await deleteObject(calls, key)
}

/** The uploads that a marker names; none for what is no marker. */
function uploadsOf(text: string): UploadName[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
  const uploads = typeof value === 'object' && value !== null && 'uploads' in value ? value.uploads : undefined
  return Array.isArray(uploads) ? uploads.filter(isUploadName) : []
}

function isUploadName(value: unknown): value is UploadName {
  if (typeof value !== 'object' || value === null) return false
  return 'key' in value && typeof value.key === 'string' && 'uploadId' in value && typeof value.uploadId === 'string'
}
