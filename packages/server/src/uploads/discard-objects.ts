import type { BlobStore } from '../blobs/blob-store.ts'
import type { BlobName, RecordStore } from '../records/record-store.ts'

const BATCH = 100
/**
 * How long what was taken in the records is removed at most. An instance that fell silent counts as dead after ten seconds at the least,
 * and what it had taken is given to others, who may have the same bytes by then.
 */
const REMOVAL_MS = 5000

export interface DiscardDeps {
  readonly records: RecordStore
  readonly blobs: BlobStore
  readonly instanceId: string
  readonly now: () => number
  /** What this process is removing now. The records let an instance take its own discards again, so all its removals share one set. */
  readonly removing: Set<string>
  /** How long after it was taken the last try to remove something begins. @default 5_000 */
  readonly removalMs?: number
}

export interface DiscardAllDeps extends DiscardDeps {
  /** True when the rest is for the next time. Asked after each batch of 100: a slow removal holds up none of its batch. @default never */
  readonly isOver?: () => boolean
}

/**
 * Removes all bytes that no live file needs, or as many as there is time for. Each removal is taken in the records first, so that an
 * upload of the same bytes waits for its end instead of losing what it just wrote.
 *
 * @returns how many objects were removed.
 * @throws the first failure of a removal, after the others were tried; what failed is tried again the next time.
 */
export async function discardObjects({ isOver = () => false, ...deps }: DiscardAllDeps): Promise<number> {
  const failures = new Map<string, unknown>()
  let removed = 0
  for (;;) {
    const batch = await deps.records.discards.pending({ instanceId: deps.instanceId, now: deps.now(), limit: BATCH })
    let taken = 0
    for (const blob of batch.filter((one) => !failures.has(nameOf(one)))) {
      try {
        if (await discardBlob(deps, blob)) taken += 1
      } catch (error) {
        failures.set(nameOf(blob), error)
      }
    }
    removed += taken
    // A batch of which nothing could be taken is in other hands, was called off, or failed.
    if (taken === 0 || isOver()) break
  }
  const [failure] = failures.values()
  if (failures.size > 0) throw failure
  return removed
}

/**
 * Removes at once what is due under a digest.
 *
 * @throws what a removal failed with; what is left is tried again by `discardObjects`.
 */
export async function discardDigest(deps: DiscardDeps, sha256: string): Promise<void> {
  const due = { sha256, instanceId: deps.instanceId, now: deps.now(), limit: BATCH }
  for (const blob of await deps.records.discards.pending(due)) await discardBlob(deps, blob)
}

/**
 * Removes these bytes if no live file needs them; bytes that are being removed already are left to whoever does it.
 *
 * @returns true when they were removed here; false also when taking them took so long that they may be somebody else's by now. They are
 * taken again the next time, if they still can be.
 */
export async function discardBlob(deps: DiscardDeps, { sha256, put }: BlobName): Promise<boolean> {
  const { records, blobs, instanceId, now, removing, removalMs = REMOVAL_MS } = deps
  const name = nameOf({ sha256, put })
  // Of two removals of the same bytes, the later one could hit what was staged after the first.
  if (removing.has(name)) return false
  removing.add(name)
  try {
    const startedAt = performance.now()
    if (!(await records.discards.begin({ sha256, put, instanceId, now: now() }))) return false
    // A machine that was paused goes on here, before any of its timers.
    const leftMs = removalMs - (performance.now() - startedAt)
    if (leftMs <= 0) return false
    await blobs.delete({ sha256, put }, { signal: AbortSignal.timeout(Math.ceil(leftMs)) })
    await records.discards.finish({ sha256, put, instanceId })
    return true
  } finally {
    removing.delete(name)
  }
}

function nameOf({ sha256, put }: BlobName): string {
  return `${sha256}/${put}`
}
