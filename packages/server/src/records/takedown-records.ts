import type { BlockedName } from './blocked-name.ts'
import type { ObjectHandle } from './content-records.ts'

/** Content that the operator blocks, and all that it reaches. */
export interface TakedownRecord {
  readonly id: number
  readonly name: BlockedName
  /** The content id, as the operator wrote it. */
  readonly cid: string
  readonly reason: string
  readonly blockedAt: number
  readonly blockedBy: string
  /** True when the bytes were to be deleted. */
  readonly isDeleted: boolean
  /** When it was lifted; null while it holds. */
  readonly liftedAt: number | null
}

/** An object that a takedown reaches. */
export interface BlockedObject {
  readonly object: ObjectHandle
  /** True for the content itself, and for what was composed of it; false for an object that has it as one block among others. */
  readonly isWhole: boolean
}

/** A takedown with what it reaches: nothing any more once it was lifted. */
export interface TakedownReach {
  readonly takedown: TakedownRecord
  readonly names: readonly BlockedName[]
  readonly objects: readonly BlockedObject[]
}

export interface BlockContentRequest {
  readonly name: BlockedName
  readonly cid: string
  readonly reason: string
  readonly by: string
  readonly now: number
  /** Ends the files, and lets go of their bytes at once. */
  readonly deletes: boolean
}

export interface BlockContentOutcome {
  readonly takedown: TakedownRecord
  /** Live files that are refused now. */
  readonly files: number
  /** Files that were ended. */
  readonly ended: number
  /** The digests whose bytes are to be deleted. */
  readonly deleted: readonly string[]
  /** Live files that have the content as one block among others: their bytes stay. */
  readonly containing: readonly string[]
}

/**
 * Takedowns of content.
 *
 * A takedown reaches every object that its name means, every other name that was established for these, what was composed of them, and,
 * as `isWhole: false`, objects that have one of its blocks. Deals of the files are closed, so that provers release their copies, and
 * aggregates with their bytes are dissolved. What is below a blocked root is not reached by itself.
 *
 * Uploads say in their commit which revision of the takedowns they were held against: `FileCommit.takedownRevision`.
 */
export interface TakedownRecords {
  /** Grows with every takedown, and with every one that is lifted. */
  revision(): Promise<number>
  /** Takedowns that were made or lifted after revision `since`, and the revision that there is now. */
  changes(request: { readonly since: number }): Promise<{
    readonly revision: number
    readonly changed: readonly TakedownReach[]
  }>
  /** Those that hold, newest first. */
  list(request: { readonly before?: number; readonly limit: number }): Promise<readonly TakedownRecord[]>
  /** Blocks again what is blocked already: with the new reason, and with all that it reaches now. */
  block(request: BlockContentRequest): Promise<BlockContentOutcome>
  /** Lifts the takedown of this name; undefined when there is none. Files that were not ended are placed again. */
  lift(request: {
    readonly name: BlockedName
    readonly by: string
    readonly now: number
  }): Promise<TakedownRecord | undefined>
  /** Every name that is known for an object. */
  namesOf(object: ObjectHandle): Promise<readonly BlockedName[]>
  /** True when a blocked object has this block. */
  hasBlock(multihash: Uint8Array): Promise<boolean>
}
