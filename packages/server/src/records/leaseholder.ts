import { LadeError } from '@lade/core/errors'
import type { Fence, LeaseRecords, RecordStore } from './record-store.ts'

/** Into so many parts the time of a lease falls; after the first of them it is taken anew. */
const PARTS = 3

/** A lease as whoever works under it wants it. */
export interface LeaseTerms {
  /** Of the work that one process does for all. */
  readonly name: string
  /** After this the lease of a process that died is free. */
  readonly lastsMs: number
}

/** What a leaseholder needs of a `RecordStore`: `Records` are those that are worked on. */
export interface LeasableRecords<Records> {
  readonly leases: LeaseRecords
  underLease(fence: () => Fence | undefined): Records
}

/** Whose lease it is, on which records. `now` is the agreed time in epoch milliseconds. */
export interface LeaseholderOptions<Records> extends LeaseTerms {
  readonly records: LeasableRecords<Records>
  /** Tells this process from others that share the records. */
  readonly holder: string
  readonly now: () => number
}

/** One of those who would do some work for all, of whom one at a time has the lease. */
export interface Leaseholder<Records = RecordStore> {
  /** The records, for the work: once the lease is somebody else's, no change is made any more. */
  readonly records: Records
  /**
   * Takes the lease, or keeps it: answers whether this process has it. Cheap enough to be called between any two steps, since the
   * records are asked once in a third of its time. Called less often than that, it may be lost meanwhile: then this answers false once,
   * also where it could be had again, so that what was begun before somebody else worked is ended and not gone on with.
   *
   * @throws {LadeError} `storage_failed` and its like. Who had the lease has it for as long as nobody else takes it.
   */
  hold(): Promise<boolean>
  /**
   * Lets others have the lease at once, and does nothing where it is not held. Records that fail are no failure of this, and are not
   * told of: what they did not take back runs out by itself.
   */
  giveBack(): Promise<void>
}

/**
 * Holds a lease for one process.
 *
 * @example
 * const leaseholder = createLeaseholder({ records, name: 'scrub', lastsMs: 60_000, holder: instanceId, now: Date.now })
 * if (await leaseholder.hold()) await work(leaseholder.records)
 */
export function createLeaseholder<Records>(options: LeaseholderOptions<Records>): Leaseholder<Records> {
  const { records, name, lastsMs, holder, now } = options
  let lease: { readonly fence: Fence; readonly takenAt: number } | undefined
  return {
    records: records.underLease(() => lease?.fence),
    async hold() {
      const takenAt = now()
      const heldMs = lease === undefined ? undefined : takenAt - lease.takenAt
      // A clock that was set back says that less than nothing has passed.
      if (heldMs !== undefined && heldMs >= 0 && heldMs < lastsMs / PARTS) return true
      const fence = await records.leases.take({ name, holder, now: takenAt, until: takenAt + lastsMs })
      const wasElsewhere = lease !== undefined && fence !== undefined && fence.number !== lease.fence.number
      lease = wasElsewhere ? undefined : fence && { fence, takenAt }
      return lease !== undefined
    },
    async giveBack() {
      if (lease === undefined) return
      lease = undefined
      try {
        await records.leases.giveBack({ name, holder })
      } catch (error) {
        if (!LadeError.is(error)) throw error
      }
    },
  }
}
