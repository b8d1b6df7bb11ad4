import type { OverQuota } from '../quota-rule/decide-quota.ts'
import type { ContentFacts, ImportCommit, ObjectHandle } from './content-records.ts'
import type { FileRecord, FolderFacts, NewFile } from './file-record.ts'
import type { AskingToken } from './limit-records.ts'

/** Some bytes of a composed object: those of another object, from its first to its last. */
export interface ObjectPart {
  /** An object that is not composed itself. */
  readonly object: ObjectHandle
  readonly sizeBytes: number
}

/** A live file that a file may be composed of. */
export interface PartFile {
  readonly file: FileRecord
  /** True when the name leads to the object's own bytes, and not to a CAR that holds what it names. */
  readonly isPlain: boolean
}

/** What is kept of the bytes of a file. */
export interface KeptFacts {
  /** The roots of the piece tree's subtrees, 32 bytes each; empty when there is only one. */
  readonly pieceSubtreeRoots: Uint8Array
  readonly imports: readonly Omit<ImportCommit, 'kind'>[]
}

/**
 * What a key names for whoever composes. `foreign`: the caller has no live file under it, and somebody's public one is
 * live. `missing`: neither has anybody.
 */
export type FoundPart =
  | { readonly outcome: 'found'; readonly part: PartFile }
  | { readonly outcome: 'foreign' | 'missing' }

/** A file to be recorded from parts that are stored already. */
export interface CompositionCommit {
  readonly now: number
  /** The day that the file is recorded under, and that repeated parts are charged to. It counts as one file of it. */
  readonly day: string
  /** The most bytes that may be charged to that day, and held of it, if parts are repeated. */
  readonly capBytes: number
  readonly capFiles: number
  /** As those of an upload. */
  readonly capStoredBytes?: number | undefined
  readonly token?: AskingToken | undefined
  readonly content: ContentFacts
  /** `key` is the one that was asked for, in any form but an opaque one; `sha256` is null unless the whole was read. */
  readonly file: NewFile
  /** The files of the parts, in order, by their sequence; one may stand there more than once. */
  readonly parts: readonly number[]
  /** What is in the file, where it is the CAR of a folder. */
  readonly folder?: FolderFacts | undefined
  /** As `FileCommit.takedownRevision`. */
  readonly takedownRevision?: number | undefined
}

/**
 * `retry` is a file of the same bytes that was live already: nothing has changed, but that what was learned is kept.
 * `ended` says which of the parts are live no more, `conflict` which bytes the key is bound to, and `over_quota` which limit of the day has
 * no room for one more file, or for the repeated parts; none of them changes anything.
 */
export type CompositionOutcome =
  | { readonly outcome: 'recorded' | 'retry'; readonly file: FileRecord }
  | { readonly outcome: 'ended'; readonly parts: readonly number[] }
  | OverQuota
  | { readonly outcome: 'conflict'; readonly object: ObjectHandle }
  | { readonly outcome: 'takedowns_changed' }

/**
 * Files that are put together from others, without a byte being moved.
 *
 * The bytes of a composed object are those of its parts, which are kept as long as it is, whatever becomes of their own files.
 * An object of the same bytes that is kept already is used instead. When an upload brings the same bytes as a whole, they
 * are the same object, whose sha2-256 is known from then on.
 */
export interface CompositionRecords {
  /** What the keys name, in their order. */
  find(request: { principal: string; keys: readonly string[]; now: number }): Promise<readonly FoundPart[]>
  /** What is kept of the bytes of files, by their sequence; nothing of those that are not in the records. */
  factsOf(files: readonly number[]): Promise<ReadonlyMap<number, KeptFacts>>
  /**
   * Records the file, charges it for what its repetitions add, and ends the files of its parts as `composed`. That the parts make
   * up the content is for the caller to have checked.
   *
   * A file that is among the parts n times adds n − 1 times its size. As with uploads, `charged + reserved + added ≤ cap` is decided
   * in the transaction that records the file.
   */
  commit(commit: CompositionCommit): Promise<CompositionOutcome>
  /** The parts of an object, in order; none for one that is not composed, or not kept. */
  partsOf(object: ObjectHandle): Promise<readonly ObjectPart[]>
}
