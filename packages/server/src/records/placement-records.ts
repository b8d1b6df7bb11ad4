import type { ObjectHandle } from './content-records.ts'

/**
 * Where a deal stands while its file is live. `staged`: no prover has it yet. `proposed`: a prover has taken it. `active`: at least one
 * copy of each of its pieces is held and its last proof held, too. `failed`: every prover that could hold it refused it or lost it, and
 * placing goes on slowly.
 */
export type PlacedStatus = 'staged' | 'proposed' | 'active' | 'failed'

/** A piece that was found in a file's bytes, or made of several files. */
export type PieceSource =
  /** Bytes of one object, from an offset on that is a multiple of 127 MiB. */
  | { readonly kind: 'object'; readonly object: ObjectHandle; readonly offsetBytes: number }
  /** A data segment aggregate of small files (FRC-0058). */
  | { readonly kind: 'aggregate' }
  | CarSource

/** The CAR of an object's DAG, depth-first from its root: it is stored nowhere and made as it is read. */
export interface CarSource {
  readonly kind: 'car'
  readonly object: ObjectHandle
  readonly objectBytes: number
  /** Of version 1, in base32. */
  readonly rootCid: string
  /** The name of the profile that the object was imported with. */
  readonly profile: string
  /** The number of the DAG; null when its digests are not kept any more. */
  readonly dag: number | null
}

/** What the pieces of one data set are. Provers announce the blocks of CARs. */
export type DataSetContent = 'bytes' | 'cars'

/** A file that may get a CAR beside its own bytes: one with the DAG that it was imported as, or without one. */
export interface CarCandidate {
  readonly file: number
  readonly object: ObjectHandle
  readonly sizeBytes: number
  /** Null for a file that gets no CAR: it has no blocks of its own, or provers may not have it. */
  readonly dag: { readonly number: number; readonly profile: string } | null
}

/** A CAR to be recorded for a file. */
export interface NewCar {
  readonly file: number
  readonly pieceRoot: string
  readonly sizeBytes: number
  readonly rootCid: string
  readonly profile: string
  /** How many copies are wanted. */
  readonly copies: number
}

/** What is handed to provers as one. */
export interface PieceRecord {
  readonly id: number
  /** The root of the piece tree, 64 lower-case hex digits. */
  readonly pieceRoot: string
  /** Raw bytes, before any padding. */
  readonly sizeBytes: number
  readonly source: PieceSource
}

/**
 * A file's place in an aggregate. Several files of the same bytes have one place. `isKept` says whether the bytes are still here.
 */
export interface AggregateMember {
  readonly object: ObjectHandle
  readonly pieceRoot: string
  readonly sizeBytes: number
  /** In padded bytes from the start of the aggregate. */
  readonly paddedOffsetBytes: number
  readonly isKept: boolean
}

/**
 * Where one copy stands. `pending`: chosen, and to be sent. `parked`: the prover has the bytes, checked, and no data set has them yet.
 * `adding`: an addition to the data set is under way. `stored`: the data set has it, or the prover is this process, which keeps none. `failed`: refused, lost, or given up. `released`:
 * nobody needs it any more.
 */
export type CopyState = 'pending' | 'parked' | 'adding' | 'stored' | 'failed' | 'released'

/** A piece at one prover. There is at most one live copy (not `failed` and not `released`) of a piece at each. */
export interface CopyRecord {
  readonly id: number
  readonly piece: number
  /** The `name` of the prover. */
  readonly prover: string
  readonly state: CopyState
  /** Failures since the state began. */
  readonly attempts: number
  /** Additions with it that the prover rejected. */
  readonly rejections: number
  /** When somebody should look at it again. */
  readonly nextAt: number
  /** What the prover's data set calls it; null until it is there, and where the prover is this process. */
  readonly dataSetId: string | null
  readonly pieceId: string | null
  readonly parkedAt: number | null
  readonly storedAt: number | null
  /** When a proof last held; null until one did, and after one that did not. */
  readonly provedAt: number | null
  /** When bytes of it were last retrieved from the prover and were right; null until then. */
  readonly retrievableAt: number | null
  readonly endedAt: number | null
  /** Why it failed, for people. */
  readonly cause: string | null
}

/** A copy together with the piece that it is of. */
export interface CopyOfPiece {
  readonly copy: CopyRecord
  readonly piece: PieceRecord
}

/** A copy that something is due for. */
export interface DueCopy extends CopyOfPiece {
  /** Of the piece as it was looked at; see {@link UnreconciledPiece.revision}. */
  readonly revision: number
}

/** The deal of one file, with what carries it. */
export interface DealRecord {
  /** The sequence of the file. */
  readonly file: number
  readonly copiesWanted: number
  readonly status: PlacedStatus
  /** Since when. */
  readonly statusAt: number
  /** Why it is `failed`, for people. */
  readonly cause: string | null
  /** The confirmed deal on the chain that has this file alone, or a slice of it; null without one. */
  readonly onchainDealId: string | null
  /** The CAR of the file, where there is one; the status does not depend on its copies. */
  readonly car: (PieceRecord & { readonly rootCid: string; readonly copies: readonly CopyRecord[] }) | null
  /** In the order of the file's bytes; empty while a small file waits to be aggregated. */
  readonly pieces: readonly (PieceRecord & {
    /** Where the file is in an aggregate; null in a piece of its own. */
    readonly paddedOffsetBytes: number | null
    /** All that there were, oldest first. */
    readonly copies: readonly CopyRecord[]
  })[]
}

/** A file that is to be placed, and is not yet. */
export interface UnenrolledFile {
  readonly file: number
  readonly object: ObjectHandle
  readonly sizeBytes: number
  readonly visibility: 'public' | 'private'
  /** Null for bytes whose piece was never computed. */
  readonly pieceRoot: string | null
  /** As `ContentFacts.pieceSubtreeRoots`. */
  readonly pieceSubtreeRoots: Uint8Array
  /** Of a composed object; empty for others. */
  readonly parts: readonly UnenrolledPart[]
  /** Of a folder: the objects of its files, but those that are taken down, or whose piece was never computed; empty for others. */
  readonly members: readonly UnenrolledPart[]
}

/** An object that is a part of a file, or in a folder, as a piece. */
export interface UnenrolledPart {
  readonly object: ObjectHandle
  readonly sizeBytes: number
  readonly pieceRoot: string
  /** As `ContentFacts.pieceSubtreeRoots`. */
  readonly pieceSubtreeRoots: Uint8Array
}

/** A piece to be recorded; one that is there already, by root and size, is not recorded again. */
export interface NewPiece {
  readonly pieceRoot: string
  readonly sizeBytes: number
  readonly object: ObjectHandle
  readonly offsetBytes: number
}

/** An aggregate of a folder's own small files (FRC-0058), in the order of their places. */
export interface NewAggregate {
  readonly pieceRoot: string
  readonly sizeBytes: number
  readonly members: readonly { readonly object: ObjectHandle; readonly paddedOffsetBytes: number }[]
}

/** What becomes of a file that is enrolled. */
export interface Enrolment {
  readonly file: number
  readonly copiesWanted: number
  /** `wait`: for an aggregate. `pieces`: it has these. `keep`: it stays here and no prover gets it. */
  readonly as:
    | { readonly kind: 'wait' }
    | { readonly kind: 'pieces'; readonly pieces: readonly (NewPiece | NewAggregate)[] }
    | { readonly kind: 'keep' }
}

/** What an upload knows of its placement when it is committed: provers that have its pieces, checked. */
export interface Placement {
  readonly copiesWanted: number
  readonly pieces: readonly NewPiece[]
  /** The `name` of each prover that has all of the pieces. */
  readonly parkedAt: readonly string[]
}

/** A deal whose file waits to be aggregated. */
export interface WaitingFile {
  readonly file: number
  readonly object: ObjectHandle
  readonly sizeBytes: number
  readonly pieceRoot: string
  readonly since: number
}

/** A piece that somebody should look at: it is new, lost a copy, is wanted more often or less, or is wanted no more. */
export interface UnreconciledPiece {
  readonly piece: PieceRecord
  /** The most copies that one of its live deals wants; 0 when nobody needs it any more. */
  readonly copiesWanted: number
  /** When the last of its live deals ends; null without one. */
  readonly neededUntil: number | null
  /** Those that have ended among them. */
  readonly copies: readonly CopyRecord[]
  /** Only for aggregates: whether the bytes of all members are still here; true for others. */
  readonly isComplete: boolean
  /** Grows with every reconciliation and every change that has to be reconciled. */
  readonly revision: number
}

/** The decision about one piece: which provers get a copy, and which copies are dropped. */
export interface Reconciliation {
  readonly piece: number
  /**
   * That of the piece as it was looked at. When it is another one by now, somebody has reconciled the piece or changed what it needs:
   * nothing is recorded, and the piece stays as unreconciled as it is. Without one, changes that came since then can be missed.
   */
  readonly revision?: number
  /** Provers that get a copy from now on, which is to be sent to them. */
  readonly add: readonly string[]
  /** The same for provers that have the bytes already and keep no data sets: the copy is `stored`, and its audit is due at once. @default none */
  readonly addStored?: readonly string[]
  /** Live copies that are not needed any more. */
  readonly release: readonly number[]
  /** When to look again; null when there is nothing more to do until something changes. */
  readonly nextAt: number | null
  /** Set when no prover is left to ask: its deals without a proved copy are `failed` for this cause. Null otherwise. */
  readonly failure: string | null
}

/** One call that adds parked copies to a prover's data set. */
export interface AdditionRecord {
  readonly id: number
  readonly prover: string
  /** Random, 64 hex digits: what tells a repetition of this call from another one. */
  readonly nonce: string
  /** Null when the call makes the data set. */
  readonly dataSetId: string | null
  readonly holds: DataSetContent
  /** What the prover answered; null while nobody knows whether it was asked. */
  readonly transaction: string | null
  readonly attempts: number
  readonly nextAt: number
  /** In the order of the call, with those that have ended since. */
  readonly copies: readonly CopyOfPiece[]
}

/** One audit of a copy, with what the prover answered. `at` is epoch milliseconds. */
export interface AuditRecord {
  readonly copy: number
  readonly prover: string
  readonly pieceRoot: string
  readonly pieceSizeBytes: number
  readonly at: number
  /** 64 hex digits; null for all but the last audit of a copy. */
  readonly seed: string | null
  readonly passed: boolean
  /** Why it did not; null for one that did. */
  readonly cause: string | null
  /**
   * What the prover answered, so that anybody can check it again; `placement/kept-proof.ts` says how. Null where there was no answer, and for
   * all but the last audit of a copy.
   */
  readonly proof: Uint8Array | null
}

/**
 * What is placed with which prover. Every method is one transaction. A change of a copy changes the `status` of the deals that it
 * carries in the same transaction, and a copy that ends has its piece reconciled again.
 *
 * A file that ends closes its deal in the transaction that ends it; its pieces are then reconciled again.
 */
export interface PlacementRecords {
  /**
   * Live files without a deal, oldest first; `after` is the last sequence that was looked at. Files that became public come first, by
   * themselves, though they may have ended.
   */
  unenrolled(request: { after: number; limit: number }): Promise<readonly UnenrolledFile[]>
  /** How far files have been looked at; 0 at first. */
  enrolledUpTo(): Promise<number>
  /** Files that ended meanwhile are passed over. Everything up to `upTo` counts as looked at. */
  enrol(request: { now: number; upTo: number; enrolments: readonly Enrolment[] }): Promise<void>

  /** Files that wait to be aggregated, oldest first. */
  waiting(request: { limit: number }): Promise<readonly WaitingFile[]>
  /** Records an aggregate of waiting files. False, and nothing recorded, when one of them does not wait any more. */
  aggregate(request: {
    now: number
    pieceRoot: string
    sizeBytes: number
    members: readonly { readonly file: number; readonly paddedOffsetBytes: number }[]
  }): Promise<boolean>
  /** Distinct by place, in the order of their places. */
  membersOf(piece: number): Promise<readonly AggregateMember[]>
  /** Takes an aggregate apart: its live deals wait again, its copies are released. */
  dissolve(request: { piece: number; now: number }): Promise<void>

  /** Open deals that nobody decided about whether they get a CAR, oldest first. */
  carCandidates(request: { limit: number }): Promise<readonly CarCandidate[]>
  /** Decides that files get no CAR, or have it. */
  carChecked(request: { files: readonly number[] }): Promise<void>
  /** Has a deal carried by the CAR of its file as well, unless the file ended or became private. */
  addCar(request: NewCar & { now: number }): Promise<void>

  unreconciled(request: { now: number; limit: number }): Promise<readonly UnreconciledPiece[]>
  /** Additions for a prover that has a live copy already are passed over. */
  reconcile(request: Reconciliation & { now: number }): Promise<void>
  /** Has every piece that is held by fewer provers than wanted reconciled again, as when provers are configured anew. */
  markAllUnreconciled(request: { now: number }): Promise<void>

  /** Live copies in this state that are due, the longest due first. */
  due(request: {
    state: 'pending' | 'parked' | 'stored'
    now: number
    limit: number
    prover?: string
    /** Only CARs, or only others. Needs `prover`. */
    holds?: DataSetContent
  }): Promise<readonly DueCopy[]>
  /** Does nothing and answers false when the copy is not `pending` any more. */
  parked(request: { copy: number; now: number }): Promise<boolean>
  /** Makes parked copies `pending` again, because the prover may have dropped their bytes. */
  parkAgain(request: { copies: readonly number[]; now: number }): Promise<void>
  /** Counts a failed attempt and says when the next one is, of a live copy or of one that is to be removed. */
  retryLater(request: { copy: number; nextAt: number }): Promise<void>
  /**
   * Ends a copy. Its deals lose its proof, and the piece is reconciled again. What a data set has of it, or may have, is to be taken out: nobody
   * pays for what is lost.
   *
   * @returns false when nothing was lost: the copy had ended, or no open deal needed its piece any more.
   */
  fail(request: { copy: number; cause: string; now: number }): Promise<boolean>

  /** Takes parked copies of one prover into one call, all for a data set of one kind; those that are not parked any more are passed over. Undefined when none is left. */
  openAddition(request: {
    prover: string
    nonce: string
    dataSetId: string | null
    /** @default 'bytes' */
    holds?: DataSetContent
    copies: readonly number[]
    now: number
  }): Promise<AdditionRecord | undefined>
  additions(): Promise<readonly AdditionRecord[]>
  /** Keeps what the prover answered, or counts an attempt that failed. */
  additionSent(request: { addition: number; transaction: string; nextAt: number }): Promise<void>
  additionLater(request: { addition: number; nextAt: number; isFailure: boolean }): Promise<void>
  /** Its copies are `stored` under these ids, in their order; audits are due at once. */
  additionConfirmed(request: {
    addition: number
    dataSetId: string
    pieceIds: readonly string[]
    now: number
  }): Promise<void>
  /**
   * Its copies are `pending` again, with one more rejection, because the prover may drop what was not added; or `failed` when `cause` is given.
   *
   * @returns how many copies were lost by it; see `fail`.
   */
  additionRejected(request: { addition: number; now: number; nextAt: number; cause: string | null }): Promise<number>
  /** The data set that pieces at this prover are added to; the latest confirmed one. */
  dataSetOf(request: { prover: string; holds: DataSetContent }): Promise<string | undefined>

  /** Copies that a data set has and that were released or failed, to be taken out of it. */
  removable(request: { limit: number; now: number }): Promise<readonly CopyOfPiece[]>
  /** The prover was told, or is gone: the copy is forgotten by `removable`. */
  removed(request: { copy: number; now: number }): Promise<void>

  /**
   * Records a proof that held, or an audit that did not. A passed one makes the copy proved. A failed one takes its proof away;
   * with `isFinal` it also fails the copy. Keeps the results of the last 30 of a copy, and seed and proof of the last.
   *
   * A failed audit is recorded only of a live copy whose piece an open deal needs, and only if the piece has its `revision` still: what its
   * files' owners end or change during the audit says nothing about the prover.
   *
   * @returns false when nothing was recorded; the copy is then due as before.
   */
  audited(request: {
    audit: Omit<AuditRecord, 'prover' | 'pieceRoot' | 'pieceSizeBytes' | 'seed'> & { readonly seed: string }
    nextAt: number
    isFinal: boolean
    /** True when bytes were retrieved from the prover, too, and were right. */
    isRetrievable: boolean
    /** Of the piece as it was when the audit began. @default any */
    revision?: number
  }): Promise<boolean>
  /** Keeps audits as this version does that an older one kept, of at most `limit` of them; answers of how many copies, 0 when all are. */
  moveOldAudits(request: { limit: number }): Promise<number>
  /** Of every copy of a file's pieces, newest first. */
  audits(request: { file: number; limit: number }): Promise<readonly AuditRecord[]>

  /** The status of the deals of these files, and nothing more; files that are not enrolled are left out. */
  statuses(
    files: readonly number[],
  ): Promise<readonly Pick<DealRecord, 'file' | 'status' | 'statusAt' | 'cause' | 'onchainDealId'>[]>
  /** The aggregate that a live file of each of these objects is in; objects without one are left out. */
  aggregatesOf(
    objects: readonly ObjectHandle[],
  ): Promise<readonly { readonly object: ObjectHandle; readonly pieceRoot: string; readonly sizeBytes: number }[]>
  /** The deals of these files; files that are not enrolled are left out. */
  deals(files: readonly number[]): Promise<readonly DealRecord[]>
  /**
   * A piece that is being handed to provers, by its root and size, whose bytes are (still) here: a slice of a file, a part of a composed
   * one, or an aggregate. Not for whole files.
   */
  pieceOf(request: { pieceRoot: string; sizeBytes: number }): Promise<PieceRecord | undefined>
  /**
   * Any piece that some open deal needs and whose bytes are here, whole objects too, whoever may see them: for proofs, not for callers.
   * `pieceSubtreeRoots` are the object's, empty for an aggregate and for an object of one subtree.
   */
  recorded(request: {
    pieceRoot: string
    sizeBytes: number
  }): Promise<{ readonly piece: PieceRecord; readonly pieceSubtreeRoots: Uint8Array } | undefined>
  /** Sets how many copies a live deal wants; its pieces are reconciled again. False for a deal that is not live. */
  want(request: { file: number; copies: number; now: number }): Promise<boolean>
  /** Counts for the metrics: copies by prover and state, deals by status, files that wait. */
  counts(): Promise<{
    readonly copies: readonly { readonly prover: string; readonly state: CopyState; readonly count: number }[]
    readonly deals: readonly { readonly status: PlacedStatus; readonly count: number }[]
    readonly waiting: number
  }>
  /** For each prover that has copies in `pending`, `parked` or `adding`: the lowest id of the 10,000 that are due first in each state. */
  oldestWaiting(): Promise<readonly { readonly prover: string; readonly copy: number }[]>
}

/** Bytes that a prover is asked to fetch before they are anybody's file. */
export interface OfferRecords {
  /** Offered until then, unless it is closed before. */
  open(request: NewPiece & { readonly id: string; readonly until: number }): Promise<void>
  find(request: {
    pieceRoot: string
    sizeBytes: number
    now: number
  }): Promise<Pick<NewPiece, 'object' | 'offsetBytes'> | undefined>
  close(id: string): Promise<void>
  /** Forgets offers past their time. */
  expire(request: { now: number }): Promise<void>
}
