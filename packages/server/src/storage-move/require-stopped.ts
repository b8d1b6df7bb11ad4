import type { InstanceLocks } from '../records/instance-locks.ts'
import type { InstanceRecords } from '../records/record-store.ts'
import { MoveRefused } from './move-refused.ts'

const LOOK_EVERY_MS = 500

/**
 * How long an instance that has just ended may still seem to live. PostgreSQL has to miss its lock for ten seconds, which are counted from
 * ten seconds after the database's own start.
 */
export const TIMEOUT_MS = { sqlite: 0, postgres: 22_000 } as const

export interface RequireStoppedDeps {
  readonly instances: Pick<InstanceRecords, 'list'>
  readonly locks: Pick<InstanceLocks, 'isHeld'>
  /** What they run on, as the end of the sentence "An instance runs on …". */
  readonly place: string
  /** How long an instance that has just ended may still seem to live. */
  readonly timeoutMs: number
  readonly wait: (ms: number) => Promise<void>
}

/**
 * Resolves when no instance lives that these records know.
 *
 * @throws {MoveRefused} when one does.
 */
export async function requireStopped({ instances, locks, place, timeoutMs, wait }: RequireStoppedDeps): Promise<void> {
  // An id is never used again, and a lock may be known to be gone for a moment only.
  const ended = new Set<string>()
  for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
    const living: string[] = []
    for (const id of await instances.list()) {
      if (ended.has(id)) continue
      if (await locks.isHeld(id)) living.push(id)
      else ended.add(id)
    }
    if (living.length === 0) return
    if (waitedMs >= timeoutMs) {
      const runs = living.length === 1 ? 'An instance runs' : `${living.length} instances run`
      throw new MoveRefused(`${runs} on ${place}. Stop every instance first.`)
    }
    await wait(LOOK_EVERY_MS)
  }
}
