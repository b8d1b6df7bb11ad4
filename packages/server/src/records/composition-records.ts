import type { ContentFacts, ImportCommit, ObjectHandle } from './content-records.ts'
import type { FileRecord, NewFile, OverQuota } from './record-store.ts'

/** Some bytes of a composed object: those of another object, from its first to its last. */
export interface ObjectPart {
  /** An object that is not composed itself. */
  readonly object: ObjectHandle
  readonly sizeBytes: number
}

/** A live file that a file may be composed of, with what is kept of its bytes. */
export interface PartFacts {
  readonly file: FileRecord
  /** True when the name leads to the object's own bytes, and not to a CAR that holds what it names. */
  readonly isPlain: boolean
  /** The roots of the piece tree's subtrees, 32 bytes each; empty when there is only one. */
  readonly pieceSubtreeRoots: Uint8Array
  readonly imports: readonly Omit<ImportCommit, 'kind'>[]
}

/**
 * What a key names for whoever composes. `foreign`: the caller has no live file under it, and somebody's public one is
 * live. `missing`: neither has anybody.
 */
export type FoundPart =
  | { readonly outcome: 'found'; readonly part: PartFacts }
  | { readonly outcome: 'foreign' | 'missing' }

export interface CompositionCommit {
  readonly now: number
  /** The day that the file is recorded under. It is charged no bytes, and counts as one file of it. */
  readonly day: string
  readonly capFiles: number
  readonly content: ContentFacts
  /** `key` is the one that was asked for, in any form but an opaque one; `sha256` is null unless the whole was read. */
  readonly file: NewFile
  /** The files of the parts, in order, by their sequence; one may stand there more than once. */
  readonly parts: readonly number[]
}

/**
 * `retry` is a file of the same bytes that was live already: nothing has changed, but that what was learned is kept.
 * `ended` says which of the parts are live no more, and `conflict` which bytes the key is bound to; none of them changes anything.
 */
export type CompositionOutcome =
  | { readonly outcome: 'recorded' | 'retry'; readonly file: FileRecord }
  | { readonly outcome: 'ended'; readonly parts: readonly number[] }
  | OverQuota
  | { readonly outcome: 'conflict'; readonly object: ObjectHandle }

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
  /**
   * Records the file, charges no bytes for it, and ends the files of its parts as `composed`. That the parts make up the
   * content is for the caller to have checked.
   */
  commit(commit: CompositionCommit): Promise<CompositionOutcome>
  /** The parts of an object, in order; none for one that is not composed, or not kept. */
  partsOf(object: ObjectHandle): Promise<readonly ObjectPart[]>
}
