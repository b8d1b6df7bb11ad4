import type { CallOptions } from './call-options.ts'
import type { PutCidForm } from './hashing/put-cid-form.ts'

/** A string or URL is the path of a file, in Node only. */
export type PutSource = Blob | Uint8Array | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | string | URL

export interface PutOptions extends CallOptions {
  /**
   * `unixfs`: the CID that IPFS tools print (profile `unixfs-v1-2025`), which for a file of up to 1 MiB is its raw CID.
   * `raw`: the CIDv1 raw of the sha2-256, which some tools take for files of any size. `piece`: the piece CID v2. `sha256`:
   * 64 hex digits. @default 'unixfs'
   */
  readonly cid?: PutCidForm | undefined
  /**
   * A content id, of any form that is verified, that the bytes must have. Where they do not, the put fails with
   * `cid_mismatch` before anything is sent; of a stream of more than 100 MB, parts are sent already and are charged.
   */
  readonly expectedCid?: string | undefined
  /** The name to offer when the file is retrieved; null for none. @default the name of a `File`, or the last part of a path */
  readonly filename?: string | null | undefined
  /**
   * Text without a charset is sent with `charset=utf-8` if it is UTF-8. @default the type of a `Blob` that has one, else
   * 'application/octet-stream'
   */
  readonly contentType?: string | undefined
  /**
   * `private` needs a token or a wallet, of an account that is verified. A file of this caller that is there already becomes what is asked
   * for, like its type, its name and a longer term. @default 'public', or as the file is that is there
   */
  readonly visibility?: 'public' | 'private' | undefined
  /** Storage term in days, within the limits of the tier. @default the tier's */
  readonly termDays?: number | undefined
  /**
   * Sends what today's quota allows of a file of more than 100 MB, although it has no room for all of it: the parts stay for 30 days, and the
   * same put on a later day sends the rest. Otherwise such a put is refused before anything is sent. @default false
   */
  readonly overDays?: boolean | undefined
  /**
   * Without a token: a secret of `newClaimSecret`, with which `files.claim` makes the file an account's later. Only its SHA-256 is sent. Keep
   * it in this browser; of the same bytes, the first upload from this address decides. With an account it changes nothing.
   */
  readonly claim?: string | undefined
  /** Parts sent side by side, 1 to 4; of a stream, also how many parts are kept at a time. @default 4 */
  readonly concurrency?: number | undefined
  /**
   * Waited for before each part is sent, and before a file that is sent whole: while it is pending, the put pauses. Hashing goes on. An error
   * that it throws ends the put with that error.
   */
  readonly beforePart?: (() => Promise<void>) | undefined
  /** Called at most every 50 ms, at every change of phase, and when a part has arrived. An error that it throws ends the put with that error. */
  readonly onProgress?: ((progress: PutProgress) => void) | undefined
  /**
   * Keeps what was hashed of a file of more than 100 MB, so that the same put, begun again after an interruption, does not
   * hash it again. For paths and `File`s; for `raw` and `sha256` ids only a finished hash is kept. Cleared by success.
   */
  readonly state?: PutState | undefined
}

/** Where a put keeps a text of its own. `fileState` of `@lade/client/node` keeps it in a file. */
export interface PutState {
  /** What was saved last; undefined where there is nothing. */
  load(): Promise<string | undefined>
  save(text: string): Promise<void>
  clear(): Promise<void>
}

/** How far a put has come. No number ever becomes smaller, and no phase comes back. */
export interface PutProgress {
  readonly phase: 'hashing' | 'sending' | 'composing' | 'done'
  /** Undefined while a stream has not ended. */
  readonly sizeBytes: number | undefined
  readonly hashedBytes: number
  /** Bytes that were sent, or that the service had already. */
  readonly sentBytes: number
  /** A file of up to 100 MB is one part. */
  readonly parts: {
    readonly total: number | undefined
    readonly sent: number
    /** Parts that the service had already. */
    readonly found: number
  }
}
