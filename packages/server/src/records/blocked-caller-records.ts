/** How a blocked caller is told: a user or a wallet by its principal, an address by the network that it is in. */
export type BlockedCallerKind = 'user' | 'wallet' | 'network'

/** A caller that the operator refuses. */
export interface BlockedCallerRecord {
  readonly id: number
  readonly kind: BlockedCallerKind
  /** `user:<id>`, `wallet:<address in lower case>`, or a network in CIDR notation. */
  readonly value: string
  /** What the operator wrote: an email, a principal, an address. */
  readonly given: string
  readonly reason: string
  readonly blockedAt: number
  readonly blockedBy: string
  readonly files: 'keep' | 'remove'
  /** True while files are still to be removed. */
  readonly isRemoving: boolean
  /** When it was lifted; null while it holds. */
  readonly liftedAt: number | null
}

export interface BlockCallerRequest extends Pick<BlockedCallerRecord, 'kind' | 'value' | 'given' | 'reason' | 'files'> {
  readonly by: string
  readonly now: number
}

/** Callers that the operator refuses. */
export interface BlockedCallerRecords {
  revision(): Promise<number>
  /** Callers that were blocked, changed or let in again after revision `since`, and the revision that there is now. */
  changes(request: { readonly since: number }): Promise<{
    readonly revision: number
    readonly changed: readonly BlockedCallerRecord[]
  }>
  /** Those that are blocked, newest first. */
  list(request: { readonly before?: number; readonly limit: number }): Promise<readonly BlockedCallerRecord[]>
  /** Blocks again who is blocked already, with the new reason. Files that are being removed stay so. */
  block(request: BlockCallerRequest): Promise<BlockedCallerRecord>
  /** Undefined when nobody is blocked under this number. */
  lift(request: {
    readonly id: number
    readonly by: string
    readonly now: number
  }): Promise<BlockedCallerRecord | undefined>
  /** Those whose files are still to be removed. */
  removing(): Promise<readonly BlockedCallerRecord[]>
  /** Notes that no file is left. */
  removed(id: number): Promise<void>
  /** Principals of live files from the first greater than `after` on, in ascending order, as far as they begin with `prefix`. */
  principals(request: {
    readonly prefix: string
    readonly after: string
    readonly limit: number
  }): Promise<readonly string[]>
  /** Ends live files of a principal, at most `limit`; answers how many. Bytes that nothing else needs become discards. */
  endFiles(request: { readonly principal: string; readonly now: number; readonly limit: number }): Promise<number>
}
