import type { BlobStore } from '../blobs/blob-store.ts'
import { uploadOfHolder } from '../open-uploads/open-uploads.ts'
import type { RecordStore } from '../records/record-store.ts'

export interface RecoverDeps {
  readonly records: RecordStore
  readonly blobs: BlobStore | undefined
  readonly instanceId: string
  /** A doubt counts for the living. */
  readonly isAlive: (instanceId: string) => Promise<boolean>
  readonly now: () => number
}

/** What processes that had ended left behind. */
export interface Recovered {
  readonly deadInstances: number
  readonly reservations: number
  readonly pendingBlobs: number
}

/**
 * Cleans up after processes that died: returns their reservations, removes their pending bytes, and plans the removal
 * of bytes that they had made readable without recording a file. Bytes of uploads that are open stay, and those of others go. Safe beside living processes, whose things it leaves.
 */
export async function recover(deps: RecoverDeps): Promise<Recovered> {
  const { records, blobs, instanceId, isAlive, now } = deps
  const isDead = async (other: string): Promise<boolean> => other !== instanceId && !(await isAlive(other))

  let reservations = await records.quotas.releaseExpired({ now: now() })
  let pendingBlobs = 0
  let deadInstances = 0
  for (const other of await records.instances.list()) {
    if (!(await isDead(other))) continue
    deadInstances += 1
    // The pending bytes go first: once the instance is forgotten, nobody would look for them under its name.
    pendingBlobs += (await blobs?.sweepPending(other)) ?? 0
    reservations += (await records.instances.deregister({ instanceId: other, now: now() })).reservations
  }
  const holders = (await blobs?.pendingHolders()) ?? []
  const uploads = holders.map(uploadOfHolder).filter((id) => id !== undefined)
  const open = new Set(uploads.length === 0 ? [] : await records.openUploads.known(uploads))
  for (const holder of holders) {
    const upload = uploadOfHolder(holder)
    if (upload === undefined ? await isDead(holder) : !open.has(upload))
      pendingBlobs += (await blobs?.sweepPending(holder)) ?? 0
  }
  return { deadInstances, reservations, pendingBlobs }
}
