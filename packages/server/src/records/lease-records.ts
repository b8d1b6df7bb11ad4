/** Proof of a lease. Numbers of one name only grow, by one whenever another holder takes it. */
export interface Fence {
  readonly name: string
  readonly number: number
}

/**
 * Work that one process does for all. The clocks of several machines differ, and a process may be paused for any time: who works under
 * a lease changes records by `RecordStore.underLease`, which refuses what comes too late.
 */
export interface LeaseRecords {
  /** The fence, when this holder has the lease until `until`: it was free, had run out, or was the holder's. Undefined otherwise. */
  take(request: { name: string; holder: string; now: number; until: number }): Promise<Fence | undefined>
  /** Gives it back; nothing happens when somebody else has it. */
  giveBack(request: { name: string; holder: string }): Promise<void>
}

/** What all processes have to know alike, such as the key that tokens are signed with. */
export interface SecretRecords {
  /** Undefined when it was never kept. */
  find(name: string): Promise<string | undefined>
  /** Keeps it unless there is one already; answers the one that there is now. */
  offer(request: { name: string; value: string }): Promise<string>
  replace(request: { name: string; value: string }): Promise<void>
}
