import type { BlobInfo } from '../../blob-store.ts'
import type { S3Calls } from './s3-calls.ts'
import type { S3Keys } from './s3-keys.ts'
import { listKeys } from './s3-objects.ts'

const PAGE_KEYS = 1000

/** Every put of the digests after `after`, in the order of digests. `limit` counts digests. */
export async function* listBlobs(
  calls: S3Calls,
  keys: S3Keys,
  { after, limit }: { readonly after: string; readonly limit: number },
): AsyncGenerator<BlobInfo> {
  let left = limit
  let last = ''
  if (left <= 0) return
  const pageSize = Math.min(PAGE_KEYS, left + 1)
  const pages = listKeys(calls, { prefix: keys.objects, startAfter: keys.before(after), pageSize })
  for await (const { objects } of pages) {
    for (const { key, sizeBytes } of objects) {
      const name = keys.nameOf(key)
      if (name === undefined || name.sha256 <= after) continue
      if (name.sha256 !== last) {
        if (left <= 0) return
        left -= 1
        last = name.sha256
      }
      yield { ...name, sizeBytes }
    }
  }
}
