/** Tells living processes on the same data from dead ones. */
export interface InstanceLocks {
  /** Holds the lock of this instance until `release`, or until the process ends, however it ends. */
  hold(instanceId: string): Promise<HeldLock>
  /** True while some process holds the lock, or may still: a doubt counts for the living. */
  isHeld(instanceId: string): Promise<boolean>
}

/** A lock that is held until it is released or the process ends. */
export interface HeldLock {
  release(): Promise<void>
}
