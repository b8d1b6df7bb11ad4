import type { FileKind } from '@lade/core/wire'
import type { OverQuota } from '../quota-rule/decide-quota.ts'
import type { AdminRecords } from './admin-records.ts'
import type { AuditLogRecords } from './audit-log-records.ts'
import type { BlockedCallerRecords } from './blocked-caller-records.ts'
import type { ChainRecords, NonceRecords } from './chain-records.ts'
import type { ClaimRecords } from './claim-records.ts'
import type { CompositionRecords } from './composition-records.ts'
import type { BlockRecords, ContentFacts, ContentRecords, ObjectHandle, ServedView } from './content-records.ts'
import type { ErasureRecords } from './erasure-records.ts'
import type { EscrowRecords } from './escrow-records.ts'
import type { FileEnd, FileRecord, NewFile, Visibility } from './file-record.ts'
import type { FolderCommit, FolderRecords, UnusableMembers } from './folder-records.ts'
import type { InstallationRecords } from './installation-records.ts'
import type { IntegrityRecords } from './integrity-records.ts'
import type { BlobName, InventoryRecords } from './inventory-records.ts'
import type { Fence, LeaseRecords, SecretRecords } from './lease-records.ts'
import type { LimitRecords } from './limit-records.ts'
import type { LoginCodeRecords } from './login-code-records.ts'
import type { OpenUploadCompletion, OpenUploadRecords } from './open-upload-records.ts'
import type { OfferRecords, PlacedStatus, Placement, PlacementRecords } from './placement-records.ts'
import type {
  AdmitAll,
  AdmitRequest,
  ExtendLeasesRequest,
  ReserveOutcome,
  ReserveRequest,
  WithDay,
} from './quota-requests.ts'
import type { SessionRecords } from './session-records.ts'
import type { TakedownRecords } from './takedown-records.ts'
import type { TokenRecords } from './token-records.ts'
import type { UsageDay } from './usage-day.ts'

export type { OverQuota, QuotaLimit } from '../quota-rule/decide-quota.ts'
export type { AdminRecords, ListPrincipalsRequest, PrincipalTotals, RunningUpload } from './admin-records.ts'
export type { AuditLine, AuditLogRecords, NewAuditEntry } from './audit-log-records.ts'
export type {
  BlockCallerRequest,
  BlockedCallerKind,
  BlockedCallerRecord,
  BlockedCallerRecords,
} from './blocked-caller-records.ts'
export type {
  ChainRecords,
  NewTransaction,
  NonceRecords,
  OnchainDealRecord,
  QueuedDeal,
  ShortDeal,
  TransactionAttempt,
  TransactionRecord,
  TransactionState,
} from './chain-records.ts'
export type { ClaimRecords, TakeRequest } from './claim-records.ts'
export type {
  CompositionCommit,
  CompositionOutcome,
  CompositionRecords,
  FoundPart,
  KeptFacts,
  ObjectPart,
  PartFile,
} from './composition-records.ts'
export type {
  BlockPlace,
  BlockRecords,
  CarCommit,
  ContentAlias,
  ContentFacts,
  ContentRecords,
  ContentView,
  DagCommit,
  FindBlockRequest,
  ImportCommit,
  ObjectHandle,
  ObjectPiece,
  ServedView,
} from './content-records.ts'
export type { ErasureRecords } from './erasure-records.ts'
export type {
  EscrowChange,
  EscrowRecord,
  EscrowRecords,
  EscrowState,
  EscrowToCheck,
  EscrowTotals,
  OnchainDealName,
} from './escrow-records.ts'
export type { FileEnd, FileRecord, FolderFacts, NewFile, Visibility } from './file-record.ts'
export type { FolderCommit, FolderMember, FolderRecords, FoundMember, UnusableMembers } from './folder-records.ts'
export type { InstallationRecords } from './installation-records.ts'
export type {
  BlobWithoutChunks,
  DamagedObject,
  DamageKind,
  InlineObject,
  InlinePage,
  IntegrityRecords,
  SealPlace,
} from './integrity-records.ts'
export type { BlobInRecords, BlobName, InventoryRecords } from './inventory-records.ts'
export type { Fence, LeaseRecords, SecretRecords } from './lease-records.ts'
export type { AskingToken, DayLeft, LimitRecords } from './limit-records.ts'
export type {
  LoginCodeRecord,
  LoginCodeRecords,
} from './login-code-records.ts'
export type {
  NewOpenUpload,
  OpenUploadCompletion,
  OpenUploadKind,
  OpenUploadRecord,
  OpenUploadRecords,
} from './open-upload-records.ts'

export type {
  AdditionRecord,
  AggregateMember,
  AuditRecord,
  CarCandidate,
  CarSource,
  CopyOfPiece,
  CopyRecord,
  CopyState,
  DataSetContent,
  DealRecord,
  DueCopy,
  Enrolment,
  NewAggregate,
  NewCar,
  NewPiece,
  OfferRecords,
  PieceRecord,
  PieceSource,
  PlacedStatus,
  Placement,
  PlacementRecords,
  Reconciliation,
  UnenrolledFile,
  UnenrolledPart,
  UnreconciledPiece,
  WaitingFile,
} from './placement-records.ts'
export type { AdmitAll, AdmitRequest, ExtendLeasesRequest, ReserveOutcome, ReserveRequest } from './quota-requests.ts'
export type {
  CountedSignup,
  SessionOpening,
  SessionRecord,
  SessionRecords,
  SessionUse,
} from './session-records.ts'
export type {
  BlockContentOutcome,
  BlockContentRequest,
  BlockedObject,
  TakedownReach,
  TakedownRecord,
  TakedownRecords,
} from './takedown-records.ts'
export type { Revocation, ShownToken, TokenRecord, TokenRecords, TokenStatus } from './token-records.ts'
export type { UsageDay } from './usage-day.ts'

/**
 * Metadata: who staged what, what it cost, what is promised and what is in flight.
 *
 * Every method is one transaction, durable when its promise resolves, and decided as if the methods of all processes
 * on the same data ran one after another. Refusals are outcomes, not errors; what throws is the medium
 * (`storage_failed`, `insufficient_storage`, `read_only`). Times are epoch milliseconds, days are UTC days (`2026-11-21`), sizes are
 * bytes, digests are 64 lower-case hex digits. Every driver passes `describeRecordStore`.
 *
 * Keys name bytes. Everything that takes a key asks the objects that it can mean, in this order:
 *
 * | key | means |
 * |---|---|
 * | `sha256:<digest>` | the object of this digest, and the CARs that it is the root of, in the order in which they were staged as that; then a file inside a CAR |
 * | `dag-pb:<digest>` | the file under this root, by itself or inside a CAR, in that order; then the block of this digest and the CARs of it, in that order |
 * | `blake3:…`, `blake2b-256:…` | the objects that have it for an alias, in that order |
 * | `piece:<piece root>:<size>` | the object of this piece root and size |
 * | `piece-v1:<piece root>` | of the objects of this piece root, the first that was recorded with it, for good |
 * | `opaque:<id>` | the object that was first recorded under it, for good |
 *
 * @example
 * const reserved = await records.quotas.reserve({ reservationId, instanceId, leaseUntil, principal, day, key, ...limits, now })
 * if (reserved.outcome === 'reserved') await records.quotas.commit({ reservationId, now, inline, content, file })
 */
export interface RecordStore {
  readonly traits: RecordStoreTraits
  readonly quotas: QuotaRecords
  readonly openUploads: OpenUploadRecords
  readonly files: FileRecords
  readonly content: ContentRecords
  readonly blocks: BlockRecords
  readonly compositions: CompositionRecords
  readonly folders: FolderRecords
  readonly claims: ClaimRecords
  readonly tokens: TokenRecords
  readonly loginCodes: LoginCodeRecords
  readonly sessions: SessionRecords
  readonly placements: PlacementRecords
  readonly offers: OfferRecords
  readonly leases: LeaseRecords
  readonly secrets: SecretRecords
  readonly installation: InstallationRecords
  readonly inventory: InventoryRecords
  readonly integrity: IntegrityRecords
  readonly chain: ChainRecords
  readonly escrow: EscrowRecords
  readonly nonces: NonceRecords
  readonly takedowns: TakedownRecords
  readonly blockedCallers: BlockedCallerRecords
  readonly instances: InstanceRecords
  readonly discards: DiscardRecords
  readonly admin: AdminRecords
  readonly limits: LimitRecords
  readonly audit: AuditLogRecords
  readonly erasure: ErasureRecords
  /**
   * The same records for one who works under a lease: while `fence` answers that of a lease that somebody else has taken since, or
   * none, every change fails with `storage_failed` and is not made. Closed with the store that it is of.
   */
  underLease(fence: () => Fence | undefined): RecordStore
  /** What the disk of the records allows; absent where they have none of their own. */
  readonly disk?: RecordsDisk
  /**
   * A number that differs after any committed change by which `files.serving` may find a file otherwise that it found before, or no more.
   * Files of new bytes do not change it, although what was found `inside` a CAR may be a file by itself from then on. Cheap enough to ask for
   * at every request; absent where there is none.
   */
  readonly generation?: () => number
  /** The clock of the database, in epoch milliseconds, for stores that several machines share; absent where there is none. */
  readonly time?: () => Promise<number>
  /** Resolves when the store can be read and written. @throws {LadeError} `storage_failed`, `read_only`. */
  check(): Promise<void>
  /** Waits for the writes that have begun, then closes. Safe to call twice. */
  close(): Promise<void>
}

/** `full`: not even removals can be written; `read_only`: nothing can. */
export type RecordsState = 'writable' | 'full' | 'read_only'

/** The disk of the records, as the driver meets it. */
export interface RecordsDisk {
  state(): RecordsState
  /** Room that is given up when the disk is full; undefined where none is kept. */
  reserveBytes(): number | undefined
  /** Has `hook` run before the records are written again after a time in which they were not; while it fails, they are not. */
  beforeWritable(hook: () => Promise<void>): void
}

/** Facts about a record store, stated once. */
export interface RecordStoreTraits {
  /** Shown in logs and in the readiness report, such as `sqlite`. */
  readonly engine: string
}

/** What an upload whose size is not known yet needs of its quota, in all. */
export interface GrowRequest {
  readonly reservationId: string
  readonly principal: string
  readonly key: string
  readonly leastBytes: number
  /** What is reserved where there is room; at least `leastBytes`. */
  readonly wantedBytes: number
  readonly now: number
}

/** `grown`: the upload may bring `allowedBytes` in all. `lost`: the reservation was returned meanwhile. */
export type GrowOutcome =
  | { readonly outcome: 'grown'; readonly allowedBytes: number }
  | (OverQuota & WithDay)
  | { readonly outcome: 'lost' }

/**
 * What an upload learns when it announces the digest that it is about to make readable. `busy` means that these bytes
 * are being removed right now: ask again shortly. `lost` means that the reservation was returned meanwhile.
 */
export type ClaimOutcome =
  | { readonly outcome: 'claimed' }
  | { readonly outcome: 'busy' }
  | { readonly outcome: 'conflict'; readonly object: ObjectHandle }
  | { readonly outcome: 'lost' }

/** What is recorded about a file whose bytes are durable. */
export interface FileCommit {
  readonly now: number
  /** The bytes themselves, for objects that live inside the metadata; undefined when a blob store holds them. */
  readonly inline: Uint8Array | undefined
  /** The sha2-256 of each chunk of 1 MiB, 32 bytes each, for a blob of more than one. */
  readonly chunkDigests?: Uint8Array | undefined
  /**
   * Which put of the bytes the blob store has, from now on the one that the object is read from: one that another upload made becomes
   * a discard. Leave out for bytes inside the metadata, and for a store in which a digest has one place. @default ''
   */
  readonly put?: string | undefined
  /** When what was put by another upload before may be removed: readers have been sent to it. @default now */
  readonly replacedUntil?: number | undefined
  /** Kept with the object by a commit that records a file, and by one that is a retry. */
  readonly content: ContentFacts
  /**
   * The revision of the takedowns that the upload was held against: with another one by now, nothing is recorded, and the outcome is
   * `takedowns_changed`. Leave out where nobody is to be refused.
   */
  readonly takedownRevision?: number | undefined
  /** Where its pieces are already; absent for a file that is placed later. A retry keeps its first placement. */
  readonly placement?: Placement | undefined
  /** What the file has in it, where it is a folder whose files are stored already. */
  readonly folder?: FolderCommit | undefined
  /** `key` is the one that the upload was admitted under, in any form. */
  readonly file: Omit<NewFile, 'sha256'> & { readonly sha256: string }
}

/** A commit that turns its reservation into a charge. */
export interface UploadCommit extends FileCommit {
  readonly reservationId: string
  /** The upload in several requests that this is the end of. */
  readonly completes?: OpenUploadCompletion | undefined
}

/**
 * `retry` is a file of these bytes that was live already, under whichever verified key: nothing is charged and the file is
 * the first one, unchanged. `over_quota` happens only to an upload that was taken for a retry and no longer fits: its file
 * was removed while the bytes were on their way, or the key turned out to name other bytes than before.
 *
 * `conflict` says which bytes the key is bound to. Only `opaque:` and `piece-v1:` keys bind, and a conflict changes nothing.
 */
export type CommitOutcome =
  | ({ readonly outcome: 'recorded' | 'retry'; readonly file: FileRecord; readonly usedBytes: number } & WithDay)
  | (OverQuota & WithDay)
  | { readonly outcome: 'conflict'; readonly object: ObjectHandle }
  | TakedownsChanged
  | UnusableMembers
  | { readonly outcome: 'lost' }

/** Nothing was recorded: hold the upload against the takedowns that there are now. */
export interface TakedownsChanged {
  readonly outcome: 'takedowns_changed'
}

/** The outcome of an upload that was admitted and recorded in one step. */
export type AtOnceOutcome = CommitOutcome | Exclude<ReserveOutcome, { readonly outcome: 'reserved' }>

/** The usage of one principal. */
export interface Usage {
  /** Ascending, only days with a charge. */
  readonly days: readonly UsageDay[]
  readonly reservedBytes: number
  /** How many uploads have reserved them, each of which will be a file. */
  readonly reservedFiles: number
  readonly stored: { readonly bytes: number; readonly files: number }
}

/** A day of a principal, or of a network, whose running counters differ from the sums of its files; an empty list is the only good answer. */
export interface UsageDrift {
  readonly principal: string
  readonly day: string
  readonly counterBytes: number
  readonly chargedBytes: number
  /** Of the files that have not ended. */
  readonly storedCounterBytes: number
  readonly storedBytes: number
}

/**
 * Exact quotas, of bytes and of files of a day and of stored bytes alike. `charged + reserved + size ≤ cap` and
 * `stored + reserved + size ≤ cap` are decided in the transaction that writes the reservation,
 * and for IPv6 addresses of their network as well; `commit`
 * turns a reservation into a charge in the transaction that records the file; `release`, `releaseExpired` and
 * `InstanceRecords.deregister` return it. A reservation is consumed once, by whichever comes first.
 */
export interface QuotaRecords {
  /** A live file of the same principal that the key is known to name makes this a retry, which reserves nothing. */
  reserve(request: ReserveRequest): Promise<ReserveOutcome>
  /** Reserves more for an upload whose size is not known yet. Where not even the least fits, nothing changes. */
  grow(request: GrowRequest): Promise<GrowOutcome>
  /**
   * Announces the digest before its bytes become readable, so that a crash between the two leaves a trace. Bytes that the same upload had
   * announced before, and that nobody needs, become a discard.
   */
  claim(request: BlobName & { reservationId: string; key: string; now?: number }): Promise<ClaimOutcome>
  commit(commit: UploadCommit): Promise<CommitOutcome>
  /** What `reserve` would answer now. Reserves nothing, so it is a hint and no promise. */
  preview(request: AdmitRequest): Promise<ReserveOutcome>
  /** `reserve` and `commit` in one transaction, for an upload whose bytes are all here. Leaves no reservation, however it ends. */
  commitAtOnce(request: { readonly admit: AdmitRequest; readonly commit: FileCommit }): Promise<AtOnceOutcome>
  /**
   * `commitAtOnce` of several uploads of one principal, in one transaction: each is recorded or refused by itself, in their order, as if they came
   * one after another.
   *
   * @throws when one cannot be decided about at all: then nothing is recorded of any.
   */
  commitTogether(request: {
    readonly admit: AdmitAll
    readonly commits: readonly FileCommit[]
  }): Promise<readonly AtOnceOutcome[]>
  /**
   * Returns a reservation; bytes that it had claimed and that nobody else needs become a discard. Idempotent.
   *
   * @param request.published - what the caller has made readable, which becomes a discard like a claimed one also when the
   *   reservation was returned before.
   */
  release(request: { reservationId: string; now: number; published?: BlobName | undefined }): Promise<void>
  /** Keeps reservations of an instance alive. Those whose lease ends later than asked for are not written to. */
  extendLeases(request: ExtendLeasesRequest): Promise<void>
  /** Returns the reservations whose lease ended before `now`; answers how many. */
  releaseExpired(request: { now: number }): Promise<number>
  /** From `fromDay` to `today`; `reservedBytes` and `reservedFiles` count the reservations of the principal for `today`. */
  usage(request: { principal: string; fromDay: string; today: string; now: number }): Promise<Usage>
  checkDrift(): Promise<readonly UsageDrift[]>
}

/** Which files of a principal to list, newest first. */
export interface ListFilesRequest {
  readonly principal: string
  readonly now: number
  readonly limit: number
  /** Only files staged before this one. */
  readonly beforeSequence?: number
  /** Only this file, and those staged after it. */
  readonly fromSequence?: number
  /** A part of the name or the cid, ASCII case folded. */
  readonly search?: string
  readonly contentType?: string
  readonly kind?: FileKind
  /** Only live files that end at this time or before, in epoch milliseconds. */
  readonly endsUntil?: number
  readonly ended?: FileEnd | 'live'
  /** Only live files whose deals stand here; a file that is not enrolled is `staged`. */
  readonly status?: PlacedStatus
  /** As in {@link ListDealsRequest}. */
  readonly isExpiring?: boolean
}

/** How far back a filter may look. */
export interface CountBackRequest {
  readonly principal: string
  readonly beforeSequence?: number
  readonly count: number
  readonly isOpen: boolean
}

/** Which deals of a principal to list, newest first. */
export interface ListDealsRequest {
  readonly principal: string
  readonly now: number
  readonly limit: number
  /** Only deals of files that were staged before this one. */
  readonly beforeSequence?: number
  /** Only deals of this file, and of those staged after it. */
  readonly fromSequence?: number
  readonly ended?: 'live' | 'expired' | 'removed'
  /** Only live deals that stand here; a file that is not enrolled is `staged`. */
  readonly status?: PlacedStatus
  /** Only those of which the end is near (the last tenth of the term, at most three days), or is not. */
  readonly isExpiring?: boolean
}

/** What `/p/` finds under a key for one caller. Private files of others count as never staged, live or ended. */
export type ServingFile =
  | { readonly outcome: 'found'; readonly file: FileRecord; readonly view: ServedView }
  | { readonly outcome: 'gone'; readonly end: FileEnd }
  | { readonly outcome: 'absent' }

/** Files: who serves which bytes, until when, and for whom. */
export interface FileRecords {
  /**
   * The earliest live file of `principal`, else the earliest live public one of a token or wallet, else the earliest live sponsored one;
   * of several objects that the key can mean, of the first that has one. `gone` says how the latest file of any of them ended that the
   * caller may know of.
   */
  serving(request: { key: string; now: number; principal?: string }): Promise<ServingFile>
  /** When the term of the file ends that everybody is served of this object; undefined when there is none. */
  publicUntil(request: { object: ObjectHandle; now: number }): Promise<number | undefined>
  /** The bytes of an object that lives inside the metadata; undefined when a blob store holds them. */
  inlineBytes(object: ObjectHandle): Promise<Uint8Array | undefined>
  /** The principal's live file under this key, else the latest that has ended. */
  latest(request: { principal: string; key: string; now: number }): Promise<FileRecord | undefined>
  bySequence(sequence: number): Promise<FileRecord | undefined>
  /** Newest first. */
  list(request: ListFilesRequest): Promise<readonly FileRecord[]>
  /**
   * The sequence of the principal's file that is the `count`-th when they are counted back from `beforeSequence`, or from the newest;
   * undefined when there are not as many. Bounds how many files a filter looks at in vain.
   *
   * @param request.isOpen - counts only files that have not been ended.
   */
  countBack(request: CountBackRequest): Promise<number | undefined>
  /** The latest file of each deal of the principal, newest first. Parts that were composed have no deal any more. */
  listDeals(request: ListDealsRequest): Promise<readonly FileRecord[]>
  /** The latest file of this deal of the principal. */
  byDeal(request: { principal: string; dealId: string }): Promise<FileRecord | undefined>
  /** Changes a live file, or nothing. A file that becomes private leaves the provers, one that becomes public is enrolled again. */
  change(request: ChangeFileRequest): Promise<ChangeFileOutcome>
  /** Ends the principal's live file under this key; with the last one that needs them its bytes become discards. */
  remove(request: RemoveFileRequest): Promise<FileRecord | undefined>
  /** Ends files past their term, oldest first, at most `limit`; answers how many. */
  expire(request: ExpireFilesRequest): Promise<number>
  /** Lets go of the bytes of expired files whose `keepMs` are over, of at most `limit` objects; answers of how many. */
  releaseEnded(request: { now: number; limit: number }): Promise<number>
  /**
   * Undoes the ends of files that expired while the clock was ahead: their term is not over, and their bytes are there. Looks at `limit`
   * objects; answers how many files came back.
   */
  revive(request: ReviveFilesRequest): Promise<number>
  /** The file that was staged last; undefined in an empty store. */
  newest(): Promise<{ readonly sequence: number; readonly uploadedAt: number } | undefined>
  /** Moves the ends of files that were staged while the clock was behind. Idempotent: a file is moved once. */
  postpone(request: PostponeFilesRequest): Promise<void>
}

/** Which files expire: those whose term ended before `now`. */
export interface ExpireFilesRequest {
  readonly now: number
  readonly limit: number
  /** How long the bytes of a file stay after this. @default 0 */
  readonly keepMs?: number
}

/** Which expired files come back: those whose term is not over at `now`. */
export interface ReviveFilesRequest {
  readonly now: number
  readonly limit: number
  /** As files are expired with. */
  readonly keepMs: number
}

/** A longer term: by so many days, of so many days in all, or until a time, in whole days. */
export type TermChange = { readonly addDays: number } | { readonly termDays: number } | { readonly until: number }

/** What is changed of a file; absent fields stay as they are. */
export interface FileChange {
  readonly visibility?: Visibility | undefined
  readonly contentType?: string | undefined
  readonly filename?: string | null | undefined
  /** A term that is long enough already stays. */
  readonly term?: TermChange | undefined
}

/** A change that is made once, however often its caller sends it. */
export interface RepeatableChange {
  readonly principal: string
  /** What the caller calls it. Both are digests, in hex. */
  readonly key: string
  readonly request: string
  /** For how long the key is remembered. */
  readonly until: number
}

/** The change of one file. */
export interface ChangeFileRequest extends FileChange {
  readonly file: number
  readonly now: number
  readonly maxTermDays: number
  readonly once?: RepeatableChange | undefined
}

/**
 * `file` is as it is afterwards. `too_long`: the term that was asked for exceeds the longest; the file has `termDays`. `private_members`: a
 * folder that was to be public has files in it that its owner keeps private; some of their objects.
 */
export type ChangeFileOutcome =
  | { readonly outcome: 'changed'; readonly file: FileRecord }
  | { readonly outcome: 'too_long'; readonly termDays: number }
  | { readonly outcome: 'private_members'; readonly objects: readonly ObjectHandle[] }
  | { readonly outcome: 'key_reused' }
  | { readonly outcome: 'ended' }

/** The file that its owner removes, by any of its keys. */
export interface RemoveFileRequest {
  readonly principal: string
  readonly key: string
  /** Decides whether the file is past its term. */
  readonly now: number
  /** When it was removed. @default now */
  readonly endedAt?: number
}

/** Live files that were staged from `from` to `to`, with at least this sequence, get `byMs` more. */
export interface PostponeFilesRequest {
  readonly fromSequence: number
  readonly from: number
  readonly to: number
  readonly byMs: number
}

/** Processes that share this data. Whether one still lives is for the caller to find out. */
export interface InstanceRecords {
  register(request: { instanceId: string; now: number }): Promise<void>
  list(): Promise<readonly string[]>
  /** Forgets a dead instance: its reservations are returned, its claims and half-done discards become discards. */
  deregister(request: { instanceId: string; now: number }): Promise<{ readonly reservations: number }>
}

/** One discard, and the instance that removes its bytes. */
export interface DiscardRequest extends BlobName {
  readonly instanceId: string
}

/** Which discards an instance asks for. */
export interface PendingDiscards {
  readonly instanceId: string
  /** Only those that are due by now. */
  readonly now: number
  readonly limit: number
  /** Only those of this digest. */
  readonly sha256?: string | undefined
}

/** Bytes that no live file needs, by itself or for a part, to be removed from the blob store when their time has come. */
export interface DiscardRecords {
  /**
   * Those that nobody has taken, and those that this instance took and did not finish; the one that is due longest first. None while
   * somebody has the lease `REMOVAL_HOLD`.
   */
  pending(request: PendingDiscards): Promise<readonly BlobName[]>
  /**
   * Takes a discard for this instance, also again, unless the bytes are needed again (then it is dropped), it is not due yet,
   * another instance has taken it, or somebody has the lease `REMOVAL_HOLD`.
   */
  begin(request: DiscardRequest & { readonly now: number }): Promise<boolean>
  /** Call after the bytes are gone. Does nothing when another instance has taken over. */
  finish(request: DiscardRequest): Promise<void>
}
