import type { DataSets } from '../data-sets/data-sets.ts'
import type { PieceStore } from './piece-store.ts'

export interface CollectParkedOptions {
  readonly store: PieceStore
  readonly dataSets: DataSets
  readonly now: () => number
  /** How long a piece that no data set has may lie there. */
  readonly parkMs: number
}

/**
 * Throws away the pieces that no data set has: those that were never added, and those that were taken out of the last one. Their time
 * begins when they were stored, last asked for or taken out, whichever was the latest.
 *
 * @returns how many went.
 */
export async function collectParked({ store, dataSets, now, parkMs }: CollectParkedOptions): Promise<number> {
  const removalTimes = dataSets.removalTimes()
  let count = 0
  for (const pieceCid of store.list()) {
    if (removalTimes.has(pieceCid) && removalTimes.get(pieceCid) === undefined) continue
    // Read anew each time: what was added while others went was asked for just before.
    const since = Math.max(store.wantedAt(pieceCid), removalTimes.get(pieceCid) ?? 0)
    if (since + parkMs > now()) continue
    await store.remove(pieceCid)
    count += 1
  }
  return count
}
