import type { Fence, RecordStore } from '../records/record-store.ts'

export interface LeaseholderOptions {
  readonly records: RecordStore
  /** Of the work that one process does for all. */
  readonly name: string
  /** Tells this process from others that share the records. */
  readonly holder: string
}

/** One of those who would do some work for all, of whom one at a time has the lease. */
export interface Leaseholder {
  /** The records, for the work: once the lease is somebody else's, no change is made any more. */
  readonly records: RecordStore
  /** True when the lease is held until then. */
  take(request: { now: number; until: number }): Promise<boolean>
  giveBack(): Promise<void>
}

export function createLeaseholder({ records, name, holder }: LeaseholderOptions): Leaseholder {
  let fence: Fence | undefined
  return {
    records: records.underLease(() => fence),
    async take(request) {
      fence = await records.leases.take({ name, holder, ...request })
      return fence !== undefined
    },
    async giveBack() {
      fence = undefined
      await records.leases.giveBack({ name, holder })
    },
  }
}
