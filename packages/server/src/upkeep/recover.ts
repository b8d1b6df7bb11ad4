import type { BlobStore } from '../blobs/blob-store.ts'
import type { RecordStore } from '../records/record-store.ts'

export interface RecoverDeps {
  readonly records: RecordStore
  readonly blobs: BlobStore | undefined
  readonly instanceId: string
  readonly isAlive: (instanceId: string) => boolean
  readonly now: () => number
}

export interface Recovered {
  readonly deadInstances: number
  readonly reservations: number
  readonly pendingBlobs: number
}

/**
 * Cleans up after processes that died: returns their reservations, removes their pending bytes, and plans the removal
 * of bytes that they had made readable without recording a file. Safe beside living processes, whose things it leaves.
 */
export async function recover(deps: RecoverDeps): Promise<Recovered> {
  const { records, blobs, instanceId, isAlive, now } = deps
  const isDead = (other: string): boolean => other !== instanceId && !isAlive(other)

  let reservations = await records.quotas.releaseExpired({ now: now() })
  let pendingBlobs = 0
  const dead = (await records.instances.list()).filter(isDead)
  for (const other of dead) {
    // The pending bytes go first: once the instance is forgotten, nobody would look for them under its name.
    pendingBlobs += (await blobs?.sweepPending(other)) ?? 0
    reservations += (await records.instances.bury({ instanceId: other, now: now() })).reservations
  }
  for (const holder of (await blobs?.pendingHolders()) ?? []) {
    if (isDead(holder)) pendingBlobs += (await blobs?.sweepPending(holder)) ?? 0
  }
  return { deadInstances: dead.length, reservations, pendingBlobs }
}
