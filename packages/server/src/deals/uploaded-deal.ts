import type { UploadedDeal } from '../files/file-entry.ts'
import type { FileRecord, RecordStore } from '../records/record-store.ts'
import { fullDeals } from './full-deals.ts'

const POLL_MS = 50

export interface UploadedDealDeps {
  readonly records: RecordStore
  /** How long an upload waits for its deal on the chain; 0 without a marketplace. */
  readonly dealWaitMs: number
}

/** A file of which a transaction just recorded that nobody has begun to place it. */
export const NOT_PLACED: UploadedDeal = { placed: undefined, onchainDealId: null }

/**
 * The deal of a file that was just staged, with the id that the chain gave it when that is confirmed in time. Otherwise the synthetic id is
 * answered, and keeps resolving.
 *
 * Only a piece of its own is worth waiting for: an aggregate is not even begun.
 */
export async function uploadedDeal({ records, dealWaitMs }: UploadedDealDeps, file: FileRecord): Promise<UploadedDeal> {
  const deadline = performance.now() + dealWaitMs
  for (;;) {
    const [deal] = await fullDeals(records, [file])
    const pieces = deal?.placed?.pieces ?? []
    const isAlone = pieces.length > 0 && pieces.every(({ paddedOffsetBytes }) => paddedOffsetBytes === null)
    const onchain = deal?.onchain.find(({ onchainId }) => onchainId !== null)
    if (!isAlone || onchain !== undefined || performance.now() >= deadline) {
      return { placed: deal?.placed, onchainDealId: isAlone ? (onchain?.onchainId ?? null) : null }
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
