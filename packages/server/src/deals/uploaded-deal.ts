import type { PlacedDealStatus } from '../files/deal-status.ts'
import type { FileRecord, RecordStore } from '../records/record-store.ts'

const POLL_MS = 50

export interface UploadedDealDeps {
  readonly records: RecordStore
  /** How long an upload waits for its deal on the chain; 0 without a marketplace. */
  readonly dealWaitMs: number
}

/**
 * The deal of a file that was just staged, with the id that the chain gave it when that is confirmed in time. Otherwise the synthetic id is
 * answered, and keeps resolving.
 *
 * Only a piece of its own is worth waiting for: an aggregate is not even begun.
 *
 * @returns undefined for a file that nobody has begun to place.
 */
export async function uploadedDeal(
  { records, dealWaitMs }: UploadedDealDeps,
  file: FileRecord,
): Promise<PlacedDealStatus | undefined> {
  const deadline = performance.now() + dealWaitMs
  for (;;) {
    const [placed] = await records.placements.deals([file.sequence])
    const pieces = placed?.pieces ?? []
    const isAlone = pieces.length > 0 && pieces.every(({ paddedOffsetBytes }) => paddedOffsetBytes === null)
    const isKnown = placed !== undefined && placed.onchainDealId !== null
    if (!isAlone || isKnown || performance.now() >= deadline) return placed
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
