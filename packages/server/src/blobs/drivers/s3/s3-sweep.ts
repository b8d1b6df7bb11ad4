import { ListMultipartUploadsCommand, type ListMultipartUploadsCommandOutput } from '@aws-sdk/client-s3'
import { abortUpload, type UploadName } from './multipart-upload.ts'
import { sweepMarker } from './pending-marker.ts'
import type { S3Calls } from './s3-calls.ts'
import { isFailure } from './s3-failure.ts'
import { deleteObject, listKeys } from './s3-objects.ts'

const WAITING = '.bytes'

/** Removes what is pending under `prefix`, the pending place of one holder; answers how many pending blobs that were. */
export async function sweepPrefix(calls: S3Calls, prefix: string): Promise<number> {
  const markers = new Set<string>()
  for await (const { objects } of listKeys(calls, { prefix })) {
    for (const { key } of objects) markers.add(key.endsWith(WAITING) ? key.slice(0, -WAITING.length) : key)
  }
  for (const marker of markers) {
    await deleteObject(calls, `${marker}${WAITING}`)
    // Last: a sweep that is interrupted is found again by its markers.
    await sweepMarker(calls, marker)
  }
  await abortUnmarked(calls, prefix)
  return markers.size
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
