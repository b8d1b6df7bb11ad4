import { LadeError } from '@lade/core/errors'
import type { HeldLock, InstanceLocks } from '../records/instance-locks.ts'
import type { RecordStore } from '../records/record-store.ts'

/**
 * Holds the lock of this instance: at once, or before anything is written where the disk takes no writes at this time. An instance without
 * its lock is dead to others, and so writes nothing.
 *
 * @throws whatever `hold` throws while the records can be written.
 */
export async function holdBeforeWriting(
  locks: InstanceLocks,
  { records, instanceId }: { readonly records: Pick<RecordStore, 'disk'>; readonly instanceId: string },
): Promise<HeldLock> {
  let held: HeldLock | undefined
  const hold = async (): Promise<void> => {
    held ??= await locks.hold(instanceId)
  }
  records.disk?.beforeWritable(hold)
  if (records.disk === undefined || records.disk.state() === 'writable') await hold()
  return { release: async () => held?.release() }
}

/** Runs what a start writes; where nothing can be written at this time, upkeep makes up for it. */
export async function unlessUnwritable(write: () => Promise<unknown>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (!LadeError.has(error, 'read_only') && !LadeError.has(error, 'insufficient_storage')) throw error
  }
}
