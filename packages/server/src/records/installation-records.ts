/** Which installation the records are of. */
export interface InstallationRecord {
  /** Random; the same is written beside the objects. */
  readonly id: string
  /** True once the id was written beside the objects, which must have it from then on. */
  readonly isPaired: boolean
  /** How far these records have come: grows, and never falls but with the records themselves. */
  readonly progress: number
}

/** The installation id of the records. It is compared with the one beside the objects before anything is deleted. */
export interface InstallationRecords {
  /** Undefined until an id was offered. */
  find(): Promise<InstallationRecord | undefined>
  /** Stores this id unless there is one; returns what is stored then. */
  offer(id: string): Promise<InstallationRecord>
  /** Notes that the objects have this id. Does nothing when the records have another one by now. */
  pair(id: string): Promise<void>
  /**
   * Adds one to `progress` and returns it.
   *
   * @throws {LadeError} `storage_failed`, also when no id was offered.
   */
  raise(): Promise<number>
  /** Makes these the records of this installation, whatever they were before. */
  replace(installation: InstallationRecord): Promise<void>
  /** How many changes that somebody was promised this store has committed since it was opened. */
  promised(): number
}
