import type { BlobStore } from '../blobs/blob-store.ts'
import type { RecordStore } from '../records/record-store.ts'

const BATCH = 100

/**
 * Removes bytes that no live file needs. Each removal is taken in the records first, so that an upload of the same
 * bytes waits for its end instead of losing what it just wrote.
 *
 * @returns how many objects were removed.
 */
export async function discardObjects(deps: {
  readonly records: RecordStore
  readonly blobs: BlobStore
  readonly instanceId: string
}): Promise<number> {
  const { records, blobs, instanceId } = deps
  let removed = 0
  for (;;) {
    const batch = await records.discards.pending({ limit: BATCH })
    let taken = 0
    for (const sha256 of batch) {
      if (!(await records.discards.begin({ sha256, instanceId }))) continue
      taken += 1
      await blobs.delete(sha256)
      await records.discards.finish({ sha256 })
    }
    removed += taken
    // A batch of which nothing could be taken is in other hands, or was called off.
    if (taken === 0) return removed
  }
}
