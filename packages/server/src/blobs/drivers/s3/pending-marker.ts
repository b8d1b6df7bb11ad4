import { checked } from './checked-bytes.ts'
import type { UploadName } from './multipart-upload.ts'
import type { S3Calls } from './s3-calls.ts'
import { unlessAbsent } from './s3-failure.ts'
import { putObject, readSmallObject } from './s3-objects.ts'

/** Which uploads belong to a pending blob. */
export interface Marker {
  readonly uploads: readonly UploadName[]
  /** The key to which an upload is about to be begun, or was, and whose id its process did not come to write down. */
  readonly beginning?: string | undefined
}

/**
 * Writes down which uploads belong to a pending blob, so that another process can end them.
 *
 * They cannot be found otherwise: an upload to the key of a blob does not say whose it is.
 */
export async function writeMarker(calls: S3Calls, key: string, marker: Marker): Promise<void> {
  await putObject(calls, key, checked(Buffer.from(JSON.stringify(marker))), { ifAbsent: false })
}

/** What the marker under `key` says; nothing for what is no marker, or is not there. */
export async function readMarker(calls: S3Calls, key: string): Promise<Marker> {
  const bytes = await unlessAbsent(() => readSmallObject(calls, key))
  return bytes === undefined ? { uploads: [] } : markerFrom(bytes.toString())
}

function markerFrom(text: string): Marker {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return { uploads: [] }
    throw error
  }
  if (typeof value !== 'object' || value === null) return { uploads: [] }
  const uploads = 'uploads' in value && Array.isArray(value.uploads) ? value.uploads.filter(isUploadName) : []
  const beginning = 'beginning' in value && typeof value.beginning === 'string' ? value.beginning : undefined
  return { uploads, beginning }
}

function isUploadName(value: unknown): value is UploadName {
  if (typeof value !== 'object' || value === null) return false
  return 'key' in value && typeof value.key === 'string' && 'uploadId' in value && typeof value.uploadId === 'string'
}
