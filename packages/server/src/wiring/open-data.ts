import type { BlobStore } from '../blobs/blob-store.ts'
import type { Config } from '../config/config.ts'
import { type AgreedTime, agreeOnTime } from './agree-on-time.ts'
import { type GuardedBlobs, guardBlobs } from './guard-blobs.ts'
import { holdBeforeWriting } from './hold-instance-lock.ts'
import { joinObjects, refuseMissingDatabase, refuseMissingObjects } from './join-objects.ts'
import { type DriverSurroundings, type OpenedRecords, openBlobs, openRecords } from './open-drivers.ts'
import type { RetryCounters } from './retry-counters.ts'

/** What an instance keeps and is told by: records, bytes and time, each opened and checked against the others. */
export interface OpenedData extends AgreedTime, Pick<OpenedRecords, 'locks'> {
  /** Absent where the records are in a file of SQLite. */
  readonly databaseState: OpenedRecords['databaseState'] | undefined
  /** Undefined when no storage backend is bound. */
  readonly guarded: GuardedBlobs | undefined
}

export interface OpenDataOptions extends DriverSurroundings {
  readonly onFatal: (error: Error) => void
  readonly instanceId: string
  readonly retries: RetryCounters
  /** In place of the configured store. */
  readonly ownBlobs: BlobStore | undefined
  /** In place of the agreed time. */
  readonly ownNow: (() => number) | undefined
}

/**
 * Opens records and objects, holds the lock of this instance, and makes sure that both belong together.
 *
 * @throws {StartError} when one of them is missing, cannot be opened, or belongs to another installation.
 */
export async function openData(config: Config, options: OpenDataOptions): Promise<OpenedData> {
  const { log, closers, onFatal, instanceId, retries, ownBlobs, ownNow } = options
  if (ownBlobs === undefined) await refuseMissingDatabase(config)
  const opened = await openRecords(config, { log, closers, onFatal })
  const { locks, databaseState } = opened
  const time = await agreeOnTime(opened.records, { instanceId, log, closers, ownNow })
  const { records, now } = time
  const lock = await holdBeforeWriting(locks, { records, instanceId })
  closers.push(() => lock.release())
  if (ownBlobs === undefined) await refuseMissingObjects(config, records)
  const store = ownBlobs ?? (await openBlobs(config, { log, records, retries }))
  if (store !== undefined) closers.push(() => store.close())
  const progress = await joinObjects(config, { records, store, log })
  closers.push(() => progress?.stop())
  const guarded = store === undefined ? undefined : guardBlobs({ store, records, instanceId, config, log, now })
  return { ...time, locks, databaseState, guarded }
}
