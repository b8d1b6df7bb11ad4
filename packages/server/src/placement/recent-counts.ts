import type { PlacementRecords } from '../records/record-store.ts'

export type PlacementCounts = Awaited<ReturnType<PlacementRecords['counts']>>

/** Counting that takes no longer than this is done anew each time. */
const CHEAP_MS = 50
/** Of all time, counting takes no more than one part in so many. */
const REST_PER_COUNT = 20

const recent = new WeakMap<object, { readonly counts: PlacementCounts; readonly goodUntil: number }>()

/** `counts()` of these records, which looks at every copy: where that takes long, as it was a while ago. */
export async function recentCounts(placements: Pick<PlacementRecords, 'counts'>): Promise<PlacementCounts> {
  const known = recent.get(placements)
  const startedAt = performance.now()
  if (known !== undefined && startedAt < known.goodUntil) return known.counts
  const counts = await placements.counts()
  const tookMs = performance.now() - startedAt
  if (tookMs > CHEAP_MS) recent.set(placements, { counts, goodUntil: performance.now() + REST_PER_COUNT * tookMs })
  return counts
}
