import type { ReserveOutcome, ReserveRequest } from './quota-requests.ts'

/** `partial`: bytes for a concatenation, which become no file by themselves. `final`: made of such. */
export type OpenUploadKind = 'whole' | 'partial' | 'final'

/** An upload that is sent in several requests. Its bytes so far are durable in the blob store. */
export interface OpenUploadRecord {
  readonly id: string
  readonly principal: string
  /** The tier of whoever created it. */
  readonly tier: string
  readonly kind: OpenUploadKind
  /** Its part of the quota. A final upload has none: it uses those of its parts. */
  readonly reservationId: string
  /** In all; undefined while nobody has said it. */
  readonly sizeBytes: number | undefined
  /** So many bytes are durable. Equal to `sizeBytes` of a whole upload only once its file is stored. */
  readonly durableBytes: number
  /** What the file is to be called and who may see it, in the words of whoever created it. */
  readonly head: string
  /** What the creator sent as metadata, and is told again. */
  readonly metadata: string
  /** Where the durable bytes are, in the words of the blob store; empty before the first byte. */
  readonly place: string
  /** Who writes to it now; undefined when nobody does. */
  readonly writer: string | undefined
  /** The cid of the file that it has become; undefined before that. */
  readonly cid: string | undefined
  readonly expiresAt: number
}

/** An upload that nobody has sent a byte of. */
export type NewOpenUpload = Omit<OpenUploadRecord, 'durableBytes' | 'place' | 'writer' | 'cid'>

/** A new upload, and what it asks of the quota: undefined for a final one. At most `maxOpen` of a principal are open at a time. */
export interface CreateOpenUploadRequest {
  readonly upload: NewOpenUpload
  readonly reserve: ReserveRequest | undefined
  readonly maxOpen: number
  readonly now: number
}

/** `held`: somebody else writes to it. `absent`: it has ended, or expired. */
export type TakeOpenUploadOutcome =
  | { readonly outcome: 'taken'; readonly upload: OpenUploadRecord }
  | { readonly outcome: 'held'; readonly writer: string }
  | { readonly outcome: 'absent' }

/** What a writer has made durable. */
export interface AdvanceOpenUploadRequest {
  readonly id: string
  readonly writer: string
  readonly durableBytes: number
  readonly place: string
  readonly expiresAt: number
  /** Set once; absent where it is known or unknown still. */
  readonly sizeBytes?: number | undefined
  /** True for the last word of this writer: nobody writes any more then. @default false */
  readonly isLast?: boolean
}

/**
 * What a commit that stores a file does to open uploads: `id` becomes that file, and the partial uploads that it was made of end, whose
 * reservations it uses.
 */
export interface OpenUploadCompletion {
  readonly id: string
  readonly partIds: readonly string[]
}

/**
 * Uploads that are sent in several requests. The reservation of an open upload belongs to no instance, lives as long as the upload, and is
 * returned once: by the commit of the file, by `end`, or by `expire`.
 */
export interface OpenUploadRecords {
  /** Reserves and records, or neither. */
  create(request: CreateOpenUploadRequest): Promise<ReserveOutcome>
  find(request: { id: string; now: number }): Promise<OpenUploadRecord | undefined>
  /** Makes `writer` the one that writes, if nobody does, or `from` does. */
  take(request: { id: string; writer: string; from?: string | undefined; now: number }): Promise<TakeOpenUploadOutcome>
  /** Records what is durable, and extends the upload and its reservation. False when somebody else writes by now, or it has ended. */
  advance(request: AdvanceOpenUploadRequest): Promise<boolean>
  /** Nobody writes any more; nothing happens when somebody else does. */
  giveBack(request: { id: string; writer: string }): Promise<void>
  /** Ends an upload, and returns its reservation. False when there is none. */
  end(request: { id: string; now: number }): Promise<boolean>
  /** Ends uploads that expired before `now`, and those that have become files, at most `limit`; answers which. */
  expire(request: { now: number; limit: number }): Promise<readonly string[]>
  /** Of these ids those of uploads that may have bytes in the blob store. */
  known(ids: readonly string[]): Promise<readonly string[]>
}
