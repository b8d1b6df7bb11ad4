import { type BlockHasher, type BlockHashers, hashHere } from '../hashing/block-hasher.ts'
import { sha256Hex } from '../hashing/sha256.ts'
import type { BlobStore, PendingBlob } from './blob-store.ts'
import { BodyIntake, type BodySource, DEFAULT_BLOCK_BYTES } from './body-intake.ts'

export type { BodySource } from './body-intake.ts'

export interface ReceiveOptions {
  /** The length the sender declared. */
  readonly sizeBytes: number
  /** The digest the bytes must have: 64 lower-case hex digits, or `undefined` when any will do. */
  readonly expectSha256: string | undefined
  /** Ends the upload; its reason is what the call rejects with. */
  readonly signal?: AbortSignal
  /** Called once, when there is room for the body and it may flow: what `Expect: 100-continue` waits for. */
  readonly onReady?: () => void
  /** Called with the running total whenever bytes arrive. What it throws ends the upload. */
  readonly onProgress?: (receivedBytes: number) => void
  /** True when nobody else looks at the chunks of the source, so that their memory may be given back at once. @default false */
  readonly ownsChunks?: boolean
  /** Where the bytes are hashed. @default on the calling thread */
  readonly hashers?: BlockHashers
  /** Bytes that are hashed and written at a time; an upload holds two such buffers. @default 1_048_576 */
  readonly bufferBytes?: number
}

/** A body that arrived whole: verified and on the medium, and not yet visible to anyone. End it by either call. */
export interface ReceivedBlob {
  readonly sha256: string
  readonly sizeBytes: number
  /** Makes the blob readable and durable under its digest. */
  commit(): Promise<void>
  /** Forgets it. Does nothing after a commit. */
  abort(): Promise<void>
}

/** The bytes do not hash to what was expected of them. The caller knows the form of the id, and names both in it. */
export class DigestMismatch extends Error {
  override readonly name = 'DigestMismatch'
  readonly actualSha256: string

  constructor(actualSha256: string) {
    super(`The bytes hash to ${actualSha256}.`)
    this.actualSha256 = actualSha256
  }
}

/**
 * Streams a body once through sha2-256 into a pending blob of `store`.
 *
 * Resolves when length and digest are right and the bytes are flushed; the caller records what it must and commits. When
 * it rejects, the pending blob is already gone. Memory is two buffers, whatever the size and however slow the store:
 * the source is paused meanwhile. Listeners are attached before the call returns, so no byte is missed; the source
 * is left paused after a failure, and what becomes of the connection is its owner's business.
 *
 * @param holder - whose pending place the blob waits in; what `sweepPending` will be asked for after a crash.
 * @throws {LadeError} `incomplete_body` for a short or broken body, `bad_request` for a long one, and the store's
 *   `insufficient_storage` and `storage_failed`. A LadeError that the source was destroyed with comes back untouched.
 * @throws {DigestMismatch}
 *
 * @example
 * const blob = await receiveBlob(store, 'instance-1', request, { sizeBytes: 3, expectSha256: undefined })
 * blob.sha256 // for the body 'abc': 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
 * await blob.commit()
 */
export async function receiveBlob(
  store: BlobStore,
  holder: string,
  source: BodySource,
  options: ReceiveOptions,
): Promise<ReceivedBlob> {
  const { sizeBytes, expectSha256, signal, onProgress, bufferBytes = DEFAULT_BLOCK_BYTES } = options
  const { ownsChunks } = options
  const intake = new BodyIntake(source, { sizeBytes, blockBytes: bufferBytes, ownsChunks, signal, onProgress })
  let pending: PendingBlob | undefined
  try {
    const blob = await store.begin({ holder, sizeBytes })
    pending = blob
    options.onReady?.()
    intake.start()
    const sha256 = await drain(intake, blob, (options.hashers ?? hashHere)(sizeBytes))
    requireDigest(sha256, expectSha256)
    await blob.flush()
    signal?.throwIfAborted()
    return { sha256, sizeBytes, commit: () => blob.commit(sha256), abort: () => blob.abort() }
  } catch (error) {
    // What cannot be removed now is left for the sweep of this holder; the caller needs the first error.
    await pending?.abort().catch(() => {})
    throw error
  } finally {
    intake.close()
  }
}

/** Hashes and writes every block, side by side; answers the digest. */
async function drain(intake: BodyIntake, pending: PendingBlob, hasher: BlockHasher): Promise<string> {
  try {
    for (let block = await intake.next(); block !== undefined; block = await intake.next()) {
      // The write goes first: it runs on a thread of the pool while the same bytes are hashed.
      const writing = pending.write(block)
      await Promise.all([writing, hasher.update(block)])
      intake.release(block)
    }
    return await hasher.digestHex()
  } finally {
    hasher.discard()
  }
}

/**
 * Takes a body that fits in memory, and answers it with its digest; no store is involved.
 *
 * Holds `sizeBytes` from the first byte on, so the caller bounds it. The result's buffer is its own.
 *
 * @throws {LadeError} `incomplete_body`, `bad_request` as `receiveBlob`.
 * @throws {DigestMismatch}
 *
 * @example
 * const { bytes } = await receiveInline(request, { sizeBytes: 3, expectSha256: undefined })
 * bytes.length // 3
 */
export async function receiveInline(
  source: BodySource,
  options: ReceiveOptions,
): Promise<{ sha256: string; bytes: Uint8Array }> {
  const { sizeBytes, expectSha256, signal, onProgress } = options
  const intake = new BodyIntake(source, { sizeBytes, blockBytes: sizeBytes, signal, onProgress })
  try {
    options.onReady?.()
    intake.start()
    const bytes = (await intake.next()) ?? new Uint8Array()
    await intake.next() // the end itself, or whatever came instead of it
    const sha256 = sha256Hex(bytes)
    requireDigest(sha256, expectSha256)
    return { sha256, bytes }
  } finally {
    intake.close()
  }
}

function requireDigest(actual: string, expected: string | undefined): void {
  if (expected !== undefined && actual !== expected) throw new DigestMismatch(actual)
}
