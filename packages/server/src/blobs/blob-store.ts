/** Bytes by their sha2-256. The digest is always 64 lower-case hex digits here. */

/** A half-open window of a blob: `length` bytes from `offset`. */
export interface ByteRange {
  readonly offset: number
  readonly length: number
}

/**
 * Names what one upload put under a digest. A store that `keepsPuts` never uses a name twice, so that a removal that is executed late cannot
 * hit what somebody put since.
 */
export interface BlobName {
  readonly sha256: string
  /** Empty where a digest has one place, and for what was put before puts had names. */
  readonly put: string
}

/** What a store holds under a digest. */
export interface BlobInfo extends BlobName {
  readonly sizeBytes: number
}

/** Where a reader finds a blob without the service in between. */
export type BlobLocation =
  | { readonly kind: 'file'; readonly path: string }
  /** A URL that answers GET (and perhaps nothing else), with ranges, to whoever knows it, until its time is over. */
  | { readonly kind: 'url'; readonly url: string; readonly expiresAt: number }

/** What a URL for readers answers with. */
export interface LocationHeaders {
  readonly contentType: string
  readonly contentDisposition: string
  readonly cacheControl: string
}

/** Facts about a store, stated once instead of discovered by its callers. */
export interface BlobStoreTraits {
  /** Shown in logs and in the readiness report, such as `fs`. */
  readonly medium: string
  /** True when a committed blob survives the end of the process (and a power cut). */
  readonly durable: boolean
  /** True when several puts of a digest can be there side by side. Which of them is read is for the records to say. */
  readonly keepsPuts: boolean
  /** How long somebody may still read what was replaced, since a location of it was given out. */
  readonly locatedMs: number
}

/**
 * A blob on its way in: written in order, invisible to readers until `commit` resolves.
 *
 * The store does not hash. `receive` is the one door that may commit, and it has hashed what it wrote.
 */
export interface PendingBlob {
  /** The name of this put under whichever digest it will have: known before anybody can read it. */
  readonly put: string
  /**
   * Appends `chunk`. The caller may reuse the buffer once the promise settles, and asks for one write at a time.
   *
   * @throws {LadeError} `insufficient_storage` when the medium is full, or others have its room by now; `storage_failed` for every other failure.
   */
  write(chunk: Uint8Array): Promise<void>
  /**
   * Makes the bytes written so far durable, so that what `commit` has left to do is small. Idempotent once it has
   * succeeded. After any failed call the blob can only be aborted and every other call repeats the failure, since a
   * second fsync of the same file may succeed without the bytes being there.
   */
  flush(): Promise<void>
  /**
   * Makes the blob readable under `sha256` and durable there: flush, rename, fsync of the directory (and of its parent
   * when the directory is new). Committing a digest that exists replaces it by the same bytes, or puts them beside it where the store
   * `keepsPuts`.
   *
   * When it rejects, nothing was promised, yet the blob may be readable: an orphan that a sweep of blobs without a
   * record removes. Ends this pending blob: a further `write`, `flush` or `commit` is a `TypeError`.
   */
  commit(sha256: string): Promise<void>
  /**
   * Forgets everything written. Safe to call twice, during and after a failed call, and after a commit, where it does
   * nothing. When it rejects with `storage_failed`, `sweepPending` removes what is left.
   */
  abort(): Promise<void>
}

/**
 * The bytes of an upload that comes in several requests: written in order, kept durably in between, invisible to readers until `commit`.
 *
 * One process at a time writes to the bytes of a holder; its caller sees to that. The store does not hash, as for a `PendingBlob`.
 */
export interface ResumableBlob {
  /** The name of this put under whichever digest it will have. */
  readonly put: string
  /** As `PendingBlob.write`. After a failed call the blob can only be closed, and resumed from what was kept last. */
  write(chunk: Uint8Array): Promise<void>
  /**
   * Makes everything that was written durable. Answers the place to be resumed from, which is to be recorded before this is called again:
   * the place of the call before last may not be resumed any more.
   */
  keep(): Promise<string>
  /**
   * The bytes of `range` (default: all that were written) in order, each chunk valid until the next one is asked for.
   *
   * @throws {LadeError} `storage_failed`.
   */
  read(range?: ByteRange): AsyncIterable<Uint8Array>
  /**
   * As `PendingBlob.commit`, of everything that was written; and what was kept stays as it is, to be resumed from again, until
   * `sweepPending` removes it.
   */
  commit(sha256: string): Promise<void>
  /** Gives back what it uses. What was not kept is lost, and what was kept stays. Safe to call twice. */
  close(): Promise<void>
}

/** Whose bytes are resumed, and where. Sizes are bytes. */
export interface ResumeOptions {
  /** One for each upload: `sweepPending` removes its bytes. */
  readonly holder: string
  /** What `keep` answered last; empty for an upload of which nothing was kept. */
  readonly place: string
  /** How many bytes were written by then. What was written after them is forgotten. */
  readonly keptBytes: number
  /** Of the whole; undefined where nobody knows it. */
  readonly sizeBytes: number | undefined
  /** As `begin` has it. */
  readonly principal?: string | undefined
}

/** Bytes that are open for reading. Reads of a blob stay valid while it is deleted or replaced by the same bytes. */
export interface BlobBody {
  readonly sizeBytes: number
  /**
   * Names what is stored here now: bytes that were seen under it once are the same under it ever after, unless the medium rots.
   * Undefined where the store cannot say, and every read has to be verified by itself.
   */
  readonly version: string | undefined
  /**
   * The bytes of `range` (default: all) in order, in chunks of the store's choosing.
   *
   * A chunk is valid until the next one is asked for or the iteration is left: stores read ahead into buffers that they
   * reuse, so whoever hands a chunk on waits until it has been used. Ends early only by throwing.
   *
   * @throws {LadeError} `storage_failed` when the medium fails or holds fewer bytes than it should.
   * @throws {TypeError} when `range` reaches outside the blob, or the body is closed.
   */
  chunks(range?: ByteRange): AsyncIterable<Uint8Array>
  /** Gives the descriptor back, after the reads that are under way. Safe to call twice. */
  close(): Promise<void>
}

/** A blob of a store, open. */
export interface OpenBlob extends BlobBody {
  /**
   * Takes these bytes, which turned out to be wrong, out of everybody's reach, durably, and keeps them for the operator to look at.
   * What was committed under the digest since this was opened stays where it is: whoever did was promised it.
   *
   * @returns false when what this reads is not what is there any more, so that nothing was taken away.
   * @throws {LadeError} `storage_failed`.
   * @throws {TypeError} when the body is closed.
   */
  quarantine(): Promise<boolean>
}

/**
 * One small text beside the blobs, which says to which installation they belong. It is not a blob, and is not listed as one.
 */
export interface InstallationText {
  /**
   * The text that was written last; `undefined` when none ever was.
   *
   * @throws {LadeError} `storage_failed`, also when the place of the blobs is not there at all.
   */
  read(): Promise<string | undefined>
  /**
   * Replaces the text, durably: a crash leaves the old text or the new one.
   *
   * @param options.ifAbsent - writes only where there is none; then at most one of several writers succeeds, where the store can promise that.
   * @returns false when `ifAbsent` was asked for and there is a text, which stays.
   * @throws {LadeError} `storage_failed`, `insufficient_storage`.
   */
  write(text: string, options?: { readonly ifAbsent?: boolean }): Promise<boolean>
}

/**
 * What a reader found wrong with an object that the records promise. `missing`: its blob is not there, or has another size than recorded.
 * `inline`: its bytes in the records do not hash to its digest. `wrong`: its blob is known to hold wrong bytes, and should be read again.
 */
export interface ObjectFault {
  readonly kind: 'missing' | 'inline' | 'wrong'
  readonly sha256: string
}

/**
 * Bytes by sha2-256, durable once committed.
 *
 * "Not there" is `undefined`, and a claim about the world: a medium that fails throws `storage_failed` and is never
 * taken for an absence. Every driver and wrapper passes `describeBlobStore`.
 *
 * @example
 * const pending = await store.begin({ holder: 'instance-1', sizeBytes: 5 })
 * await pending.write(new TextEncoder().encode('hello'))
 * await pending.commit(sha256) // readable and durable from here on
 * const blob = await store.open(sha256)
 * for await (const chunk of blob.chunks({ offset: 0, length: 5 })) use(chunk) // valid until the next one
 * await blob.close()
 */
export interface BlobStore {
  readonly traits: BlobStoreTraits
  readonly installation: InstallationText
  /**
   * Starts a blob of `sizeBytes`, or of a length that is known at its end, in the pending place of `holder` (an instance id: letters, digits and dashes).
   *
   * Its room is promised for good only as its bytes arrive: one that never comes keeps nobody out.
   *
   * @throws {LadeError} `insufficient_storage` when the medium would be left with less than its headroom.
   */
  begin(options: {
    holder: string
    sizeBytes: number | undefined
    /** Whose it is: one principal holds no more than a share of the room, unless this is its only blob on the way. */
    principal?: string | undefined
    /** The digest that the caller expects to commit, where it knows one: a hint that may spare a copy. */
    expected?: string | undefined
    /** The name that this put has elsewhere, for a copy of it. @default one that nobody has used, or none */
    put?: string | undefined
  }): Promise<PendingBlob>
  /**
   * Opens the bytes of an upload in several requests, to be written on behind the `keptBytes`.
   *
   * @returns undefined when they are not all there: they were swept, or this is another store.
   * @throws {LadeError} `insufficient_storage`, `storage_failed`.
   */
  resume(options: ResumeOptions): Promise<ResumableBlob | undefined>
  /**
   * Resolves when the medium has room for `sizeBytes` beside its headroom, what is on its way in already counted.
   *
   * @throws {LadeError} `insufficient_storage`.
   */
  requireRoom(sizeBytes: number): Promise<void>
  /** The blob, to be closed by the caller; `undefined` when there is none. @throws {LadeError} `storage_failed`. */
  open(sha256: string): Promise<OpenBlob | undefined>
  /** Where the blob can be read without this process; absent for stores that have no such place. Does not say that it is there. */
  locate?(sha256: string, headers: LocationHeaders): Promise<BlobLocation>
  /** Size and name of the blob that `open` would open; `undefined` when there is none. @throws {LadeError} `storage_failed`. */
  stat(sha256: string): Promise<BlobInfo | undefined>
  /**
   * Every blob in ascending order of digest, from the first greater than `after` (any string, such as a prefix), and of at most
   * `limit` digests. All puts of a digest follow each other. Pending blobs are not listed; one that comes or goes meanwhile may be
   * listed or not.
   */
  list(options?: { after?: string; limit?: number }): AsyncIterable<BlobInfo>
  /**
   * Removes one put, durably. Removing what is not there is not an error.
   *
   * @param options.signal - once it has aborted, no removal begins any more; one that was sent to a store may still be made.
   * @throws {LadeError} `storage_failed`, also after an abort.
   */
  delete(blob: BlobName, options?: { readonly signal?: AbortSignal }): Promise<void>
  /**
   * Removes what was taken out of reach under a digest and kept for the operator; answers how many that were.
   *
   * @throws {LadeError} `storage_failed`.
   */
  deleteQuarantined(sha256: string): Promise<number>
  /**
   * Removes whatever `holder` left in its pending place; answers how many pending blobs that were. A blob swept away
   * under its writer can no longer be committed: `storage_failed`.
   */
  sweepPending(holder: string): Promise<number>
  /** The holders that have a pending place; one that is listed may have nothing in it. */
  pendingHolders(): Promise<readonly string[]>
  /** Takes note of a fault that a reader met, where damage is handled. Does not throw, and nobody waits for it. */
  reportFault?(fault: ObjectFault): void
  /** Resolves when the medium can take and give bytes. @throws {LadeError} `storage_failed`, `read_only`. */
  check(): Promise<void>
  /** Ends the store's connections and timers. Safe to call twice; nothing else may be called after it. */
  close(): Promise<void>
}
