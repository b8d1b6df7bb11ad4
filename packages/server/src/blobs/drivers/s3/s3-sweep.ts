import { ListMultipartUploadsCommand, type ListMultipartUploadsCommandOutput } from '@aws-sdk/client-s3'
import { abortUpload, type UploadName } from './multipart-upload.ts'
import { readMarker } from './pending-marker.ts'
import type { S3Calls } from './s3-calls.ts'
import { isFailure } from './s3-failure.ts'
import type { S3Keys } from './s3-keys.ts'
import { deleteObject, listKeys } from './s3-objects.ts'

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
    await sweepMarker(calls, keys, marker)
  }
  await abortUnmarked(calls, prefix)
  return markers.size
}

/**
 * Ends every upload that the marker under `key` is about, and then removes the marker. Can be repeated after any failure.
 *
 * @returns false when the marker stays, since it could not be told which upload to its key is the one.
 */
export async function sweepMarker(calls: S3Calls, keys: S3Keys, key: string): Promise<boolean> {
  const { uploads, beginning } = await readMarker(calls, key)
  for (const name of uploads) await abortUpload(calls, name)
  const isDone = beginning === undefined || (await abortUnwritten(calls, keys, { marker: key, beginning }))
  if (isDone) await deleteObject(calls, key)
  return isDone
}

/**
 * Ends the upload to the key of a blob whose process did not come to write down its id. It is one that no other marker knows.
 *
 * The uploads are listed before the markers: whoever is in the first list has written a marker before, and is in the second one too, with
 * its id, or about to begin at the same key. In that case nothing is told apart, and nothing done.
 *
 * @returns false when it has to be tried again later.
 */
async function abortUnwritten(
  calls: S3Calls,
  keys: S3Keys,
  { marker, beginning }: { readonly marker: string; readonly beginning: string },
): Promise<boolean> {
  const unknown = new Map<string, UploadName>()
  try {
    for await (const upload of listUploads(calls, beginning)) {
      if (upload.key === beginning) unknown.set(upload.uploadId, upload)
    }
  } catch (error) {
    // A store that cannot list them has the bucket's rule for them: they have no parts.
    if (!isFailure(error, 'unsupported')) throw error
  }
  if (unknown.size === 0) return true
  for await (const { objects } of listKeys(calls, { prefix: keys.pending })) {
    for (const { key } of objects) {
      if (key === marker || key.endsWith(WAITING)) continue
      const other = await readMarker(calls, key)
      if (other.beginning === beginning) return false
      for (const { uploadId } of other.uploads) unknown.delete(uploadId)
    }
  }
  for (const upload of unknown.values()) await abortUpload(calls, upload)
  return true
}

/** Ends uploads whose process died between beginning them and writing their markers. */
async function abortUnmarked(calls: S3Calls, prefix: string): Promise<void> {
  try {
    for await (const upload of listUploads(calls, prefix)) await abortUpload(calls, upload)
  } catch (error) {
    // A store that cannot list them has the bucket's rule for them: they have no parts.
    if (!isFailure(error, 'unsupported')) throw error
  }
}

async function* listUploads(calls: S3Calls, prefix: string): AsyncGenerator<UploadName> {
  let page: ListMultipartUploadsCommandOutput | undefined
  do {
    const input = {
      Bucket: calls.settings.bucket,
      Prefix: prefix,
      ...(page === undefined ? {} : { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }),
    }
    page = await calls.run('ListMultipartUploads', (client, options) =>
      client.send(new ListMultipartUploadsCommand(input), options),
    )
    for (const { Key, UploadId } of page.Uploads ?? []) {
      if (Key !== undefined && UploadId !== undefined) yield { key: Key, uploadId: UploadId }
    }
  } while (page.IsTruncated === true && page.NextKeyMarker !== undefined)
}
