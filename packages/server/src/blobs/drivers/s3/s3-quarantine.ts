import type { BlobName } from '../../blob-store.ts'
import type { S3Calls } from './s3-calls.ts'
import { copyObject } from './s3-copy.ts'
import type { S3Keys } from './s3-keys.ts'
import { deleteObject, headObject } from './s3-objects.ts'
import type { S3Puts } from './s3-puts.ts'

/**
 * Moves a blob to the quarantine, unless the records have replaced it with another put, which readers get.
 *
 * @returns false when it was not moved.
 */
export async function quarantineObject(
  { calls, keys, puts }: { readonly calls: S3Calls; readonly keys: S3Keys; readonly puts: S3Puts },
  { sha256, put }: BlobName,
): Promise<boolean> {
  if (await puts.isReplaced({ sha256, put })) return false
  const from = keys.blob({ sha256, put })
  const stored = await headObject(calls, from)
  if (stored === undefined) return false
  const to = keys.quarantined(sha256, new Date(calls.settings.now()))
  // No digest: the blob is moved because its bytes do not match it.
  await copyObject(calls, { from, to, sizeBytes: stored.sizeBytes, sha256: undefined, isOwnKey: true })
  await deleteObject(calls, from)
  puts.forget({ sha256, put })
  return true
}
