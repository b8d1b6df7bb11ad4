import type { BlobStore } from '../blobs/blob-store.ts'
import type { InventoryRecords } from '../records/record-store.ts'

/** Places in the order of digests from which blobs are taken, and how many from each. */
const PLACES = 16
const PER_PLACE = 8
/** Leaves room for orphans and for blobs in quarantine. */
const LEAST_SHARE = 0.5

/** What was compared; digests are spread evenly, so a few say something about all. */
export interface SampleComparison {
  /** Blobs of the store that were looked up in the records, and those that the records know. */
  readonly stored: number
  readonly known: number
  /** Blobs of the records that were looked up in the store, and those that are there. */
  readonly recorded: number
  readonly present: number
}

/**
 * Looks up blobs of the store in the records, and blobs of the records in the store. Reads only; up to 128 of each.
 *
 * @throws {LadeError} `storage_failed`.
 */
export async function compareSamples({
  store,
  inventory,
}: {
  readonly store: Pick<BlobStore, 'list' | 'stat'>
  readonly inventory: Pick<InventoryRecords, 'stored' | 'known'>
}): Promise<SampleComparison> {
  const stored = new Set<string>()
  const recorded = new Set<string>()
  for (let place = 0; place < PLACES; place += 1) {
    const after = place === 0 ? '' : (place * (256 / PLACES)).toString(16).padStart(2, '0')
    for await (const { sha256 } of store.list({ after, limit: PER_PLACE })) stored.add(sha256)
    for (const { sha256 } of await inventory.stored({ after, limit: PER_PLACE })) recorded.add(sha256)
  }
  const known = await inventory.known([...stored])
  const stats = await Promise.all([...recorded].map((sha256) => store.stat(sha256)))
  return {
    stored: stored.size,
    known: known.length,
    recorded: recorded.size,
    present: stats.filter((info) => info !== undefined).length,
  }
}

/** True when the samples are of one installation. Where both sides hold nothing there is nothing that could differ. */
export function belongTogether({ stored, known, recorded, present }: SampleComparison): boolean {
  return known >= stored * LEAST_SHARE && present >= recorded * LEAST_SHARE
}
