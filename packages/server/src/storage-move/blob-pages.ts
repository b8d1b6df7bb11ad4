import type { BlobStore } from '../blobs/blob-store.ts'
import type { InventoryRecords } from '../records/record-store.ts'

const PAGE = 1000
/** Behind every digest. */
const END = 'g'

/** A blob that the records need, and what either store has under its digest: a size, or undefined. */
export interface NeededBlob {
  readonly sha256: string
  /** Which put of it the records have. */
  readonly put: string
  readonly sizeBytes: number
  readonly atSource: number | undefined
  readonly atDestination: number | undefined
}

/** Blobs of one range of digests. */
export interface BlobPage {
  readonly needed: readonly NeededBlob[]
  /** What the destination has in this range of digests that these records do not need. */
  readonly others: number
}

export interface BlobPagesDeps {
  readonly inventory: Pick<InventoryRecords, 'stored'>
  readonly source: Pick<BlobStore, 'list'>
  readonly destination: Pick<BlobStore, 'list'> & Partial<Pick<BlobStore, 'traits'>>
}

/**
 * Lays what the records need beside what two stores have, in ascending order of digest.
 *
 * Stores are listed and not asked about each blob, which would be a request a blob where they are buckets.
 *
 * @throws {LadeError} `storage_failed`.
 */
export async function* blobPages({ inventory, source, destination }: BlobPagesDeps): AsyncGenerator<BlobPage> {
  for (let after = ''; ; ) {
    const recorded = await inventory.stored({ after, limit: PAGE })
    const isLast = recorded.length < PAGE
    const end = isLast ? END : (recorded.at(-1)?.sha256 ?? END)
    const [here, there] = await Promise.all([sizesIn(source, after, end), sizesIn(destination, after, end)])
    const isNamed = destination.traits?.keepsPuts === true
    const needed = recorded.map(({ sha256, put, sizeBytes }) => ({
      sha256,
      put,
      sizeBytes,
      // Whatever the source has of a digest can be copied, but what the records name comes first.
      atSource: here.get(sha256)?.get(put) ?? here.get(sha256)?.values().next().value,
      atDestination: there.get(sha256)?.get(isNamed ? put : ''),
    }))
    const others = there.size - needed.filter(({ atDestination }) => atDestination !== undefined).length
    yield { needed, others }
    if (isLast) return
    after = end
  }
}

/** By digest and put. */
async function sizesIn(
  store: Pick<BlobStore, 'list'>,
  after: string,
  end: string,
): Promise<Map<string, Map<string, number>>> {
  const sizes = new Map<string, Map<string, number>>()
  for await (const { sha256, put, sizeBytes } of store.list({ after })) {
    if (sha256 > end) break
    const puts = sizes.get(sha256) ?? new Map<string, number>()
    sizes.set(sha256, puts.set(put, sizeBytes))
  }
  return sizes
}
