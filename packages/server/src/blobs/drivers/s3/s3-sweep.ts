import { abortUpload, type UploadName } from './multipart-upload.ts'
import { readMarker } from './pending-marker.ts'
import type { S3Calls } from './s3-calls.ts'
import type { S3Keys } from './s3-keys.ts'
import { deleteObject, listKeys, listUploads } from './s3-objects.ts'

const WAITING = '.bytes'

/** Removes what is in the pending place of a holder; answers how many pending blobs that were. */
export async function sweepHolder(calls: S3Calls, keys: S3Keys, holder: string): Promise<number> {
  const prefix = keys.holder(holder)
  const markers = new Set<string>()
  for await (const { objects } of listKeys(calls, { prefix })) {
    for (const { key } of objects) markers.add(key.endsWith(WAITING) ? key.slice(0, -WAITING.length) : key)
  }
  for (const marker of markers) {
    await deleteObject(calls, `${marker}${WAITING}`)
    // Last: a sweep that is interrupted is found again by its markers.
    await sweepMarker(calls, marker)
  }
  // Those whose process died between beginning them and writing their markers.
  for await (const upload of listUploads(calls, prefix)) await abortUpload(calls, upload)
  return markers.size
}

/**
 * Ends every upload that the marker under `key` is about, and then removes the marker. Can be repeated after any failure.
 *
 * No two pending blobs begin at one key, so all uploads to a key at which one began are its own. Older versions began at the digest's key,
 * where nobody uploads any more.
 */
export async function sweepMarker(calls: S3Calls, key: string): Promise<void> {
  const { uploads, beginning } = await readMarker(calls, key)
  for (const name of uploads) await abortUpload(calls, name)
  if (beginning !== undefined) {
    for await (const upload of listUploads(calls, beginning)) {
      if (upload.key === beginning) await abortUpload(calls, upload)
    }
  }
  await deleteObject(calls, key)
}

/**
 * Ends uploads that were begun before `before` and that no marker is about: a gateway that stood still may begin one after everything of its
 * pending blob was swept. Answers how many.
 */
export async function sweepUnmarked(calls: S3Calls, keys: S3Keys, before: Date): Promise<number> {
  const old = new Map<string, UploadName>()
  for (const prefix of [keys.objects, keys.pending]) {
    for await (const upload of listUploads(calls, prefix)) {
      if (upload.begunAt !== undefined && upload.begunAt < before) old.set(upload.uploadId, upload)
    }
  }
  if (old.size === 0) return 0
  for await (const { objects } of listKeys(calls, { prefix: keys.pending })) {
    for (const { key } of objects.filter((each) => !each.key.endsWith(WAITING))) {
      const { uploads, beginning } = await readMarker(calls, key)
      for (const { uploadId } of uploads) old.delete(uploadId)
      for (const upload of [...old.values()]) if (upload.key === beginning) old.delete(upload.uploadId)
    }
  }
  for (const upload of old.values()) await abortUpload(calls, upload)
  return old.size
}
