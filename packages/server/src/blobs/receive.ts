import { type ContentId, digestsWanted, type Verified } from '@lade/core/content'
import type { ImportProfileName } from '@lade/core/dag'
import { LadeError } from '@lade/core/errors'
import type { BodyBill } from '@lade/node/budget/body-bill'
import {
  type BodyDigests,
  type ContentHasher,
  type ContentHashers,
  digestWhole,
  hashContentHere,
} from '@lade/node/hashing/content-hasher'
import { digestField } from '@lade/node/hashing/digest-field'
import type { BlobName, BlobStore, PendingBlob } from './blob-store.ts'
import { BodyIntake, type BodySource, DEFAULT_BLOCK_BYTES } from './body-intake.ts'
import { pumpBlocks } from './pump-blocks.ts'
import { checkUnwrapped, wrappingOf } from './wrapped-body.ts'

export type { BodySource } from './body-intake.ts'

/** What `receive` is told about a body before its first byte. Sizes are bytes. */
export interface ReceiveOptions {
  /** The length the sender declared; undefined where the end of the body tells. */
  readonly sizeBytes: number | undefined
  /** The id that the bytes must have. */
  readonly id: ContentId
  /** Whose body it is, as `begin` of the store has it. */
  readonly principal?: string | undefined
  /** The sha2-256 that the sender announced, in hex. */
  readonly sha256?: string | undefined
  /** True when the body may also be a CAR whose root the id names. @default false */
  readonly mayBeCar?: boolean
  /** The one import profile to try for a dag-pb id. @default all that can match */
  readonly profile?: ImportProfileName | undefined
  /** Ends the upload; its reason is what the call rejects with. */
  readonly signal?: AbortSignal
  /** Called once, when there is room for the body and it may flow: what `Expect: 100-continue` waits for. */
  readonly onReady?: () => void
  /** Called with the running total whenever bytes arrive. What it throws ends the upload. */
  readonly onProgress?: (receivedBytes: number) => void
  /** True when nobody else looks at the chunks of the source, so that their memory may be given back at once. @default false */
  readonly ownsChunks?: boolean
  /** Where the bytes are hashed. @default on the calling thread */
  readonly hashers?: ContentHashers
  /** Who is charged for the hashing. @default nobody */
  readonly bill?: BodyBill | undefined
  /**
   * Bytes that are hashed and written at a time; an upload holds four such buffers, and up to twelve while few arrive.
   * @default 1_048_576
   */
  readonly bufferBytes?: number
}

/** The same for a body of known length. */
export type SizedReceiveOptions = ReceiveOptions & { readonly sizeBytes: number }

/** What the door learned about a body that it let in. */
export interface VerifiedBody {
  readonly digests: BodyDigests
  readonly verified: Verified
}

/** A body that arrived whole: verified and on the medium, and not yet visible to anyone. End it by either call. */
export interface ReceivedBlob extends VerifiedBody {
  /** What it is called in the store once it is readable. */
  readonly name: BlobName
  /** Makes the blob readable and durable under its digest. */
  commit(): Promise<void>
  /** Forgets it. Does nothing after a commit. */
  abort(): Promise<void>
}

/**
 * Streams a body once through every hasher that its id needs, into a pending blob of `store`.
 *
 * Resolves when the bytes have the id that was announced, and the length where one was, and are flushed; the caller records what it must
 * and commits. When it rejects, the pending blob is already gone. Memory is four buffers, or twelve while few bodies arrive, whatever
 * the size and however slow the store: the source is paused meanwhile. Listeners are attached before the call returns, so no byte is
 * missed; the source is left paused after a failure, and what becomes of the connection is its owner's business.
 *
 * @param holder - whose pending place the blob waits in; what `sweepPending` will be asked for after a crash.
 * @throws {LadeError} `incomplete_body` for a short or broken body, `bad_request` for a long one, and the store's
 *   `insufficient_storage` and `storage_failed`; `digest_mismatch`, `cid_mismatch`, `invalid_car` and `incomplete_dag` for the wrong bytes; `over_budget`
 *   for a CAR that takes far longer to read than its bytes pay for. A LadeError that the source was destroyed with comes back untouched.
 *
 * @example
 * const blob = await receiveBlob(store, 'instance-1', request, { sizeBytes: 3, id })
 * blob.digests.sha256 // for the body 'abc': 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
 * await blob.commit()
 */
export async function receiveBlob(
  store: BlobStore,
  holder: string,
  source: BodySource,
  options: ReceiveOptions,
): Promise<ReceivedBlob> {
  const { sizeBytes, id, mayBeCar, profile, signal, onProgress, bufferBytes = DEFAULT_BLOCK_BYTES } = options
  const { ownsChunks, hashers = hashContentHere, bill } = options
  const intake = new BodyIntake(source, { sizeBytes, blockBytes: bufferBytes, ownsChunks, signal, onProgress })
  let pending: PendingBlob | undefined
  try {
    // A CAR has another digest than the root that names it.
    const expected = options.sha256 ?? (mayBeCar === true ? undefined : id.sha256)
    const blob = await store.begin({ holder, sizeBytes, expected, principal: options.principal })
    pending = blob
    const wanted = { ...digestsWanted(id, sizeBytes, { mayBeCar, profile }), chunks: true }
    const hasher = hashers(wanted, sizeBytes, bill)
    let wrapping: string | undefined
    const onStart = (start: Uint8Array): void => {
      wrapping = wrappingOf(start)
    }
    const digests = await drain(intake, blob, { hasher, options, onStart })
    requireDigest(options.sha256, digests)
    const verified = checkUnwrapped(id, digests, wrapping)
    await blob.flush()
    signal?.throwIfAborted()
    const { sha256 } = digests
    const name = { sha256, put: blob.put }
    return { digests, verified, name, commit: () => blob.commit(sha256), abort: () => blob.abort() }
  } catch (error) {
    // What cannot be removed now is left for the sweep of this holder; the caller needs the first error.
    await pending?.abort().catch(() => {})
    throw error
  } finally {
    intake.close()
  }
}

/** Writes and hashes every block, side by side and in order, several blocks at once; answers the digests. */
async function drain(
  intake: BodyIntake,
  pending: PendingBlob,
  {
    hasher,
    options,
    onStart,
  }: {
    readonly hasher: ContentHasher
    readonly options: ReceiveOptions
    /** Called with the first block. */
    readonly onStart: (start: Uint8Array) => void
  },
): Promise<BodyDigests> {
  let isStarted = false
  try {
    await hasher.ready(options.signal)
    options.onReady?.()
    await pumpBlocks(intake, {
      onBlock: (block) => {
        if (!isStarted) onStart(block)
        isStarted = true
      },
      write: (block) => pending.write(block),
      hash: (block) => hasher.update(block),
      // Blocks that wait for their turn are not worth hashing any more.
      onFailure: () => hasher.discard(),
    })
    return await hasher.digests()
  } finally {
    hasher.discard()
  }
}

/**
 * Takes a body that fits in memory, and answers it verified; no store is involved.
 *
 * Holds `sizeBytes` from the first byte on, so the caller bounds it; they have to be known. The result's buffer is its own.
 *
 * @throws {LadeError} as `receiveBlob`, without the store's.
 *
 * @example
 * const { bytes } = await receiveInline(request, { sizeBytes: 3, id })
 * bytes.length // 3
 */
export async function receiveInline(
  source: BodySource,
  options: SizedReceiveOptions,
): Promise<VerifiedBody & { readonly bytes: Uint8Array }> {
  const { sizeBytes, signal, onProgress } = options
  const intake = new BodyIntake(source, { sizeBytes, blockBytes: sizeBytes, keepsBlocks: true, signal, onProgress })
  try {
    options.onReady?.()
    intake.start()
    const bytes = (await intake.next()) ?? new Uint8Array()
    await intake.next() // the end itself, or whatever came instead of it
    return { bytes, ...verifyWhole(bytes, options) }
  } finally {
    intake.close()
  }
}

/**
 * Checks bytes that are all in memory against their id.
 *
 * @throws {LadeError} `digest_mismatch`, `cid_mismatch`, `invalid_car`, `incomplete_dag`.
 */
export function verifyWhole(
  bytes: Uint8Array,
  { id, sha256, mayBeCar, profile, bill }: Pick<ReceiveOptions, 'id' | 'sha256' | 'mayBeCar' | 'profile' | 'bill'>,
): VerifiedBody {
  const digests = digestWhole(bytes, digestsWanted(id, bytes.length, { mayBeCar, profile }), bill)
  requireDigest(sha256, digests)
  return { digests, verified: checkUnwrapped(id, digests, wrappingOf(bytes)) }
}

/** What the sender said of the bytes comes before what the id says: bytes that changed on their way are told as that. */
function requireDigest(announced: string | undefined, { sha256 }: BodyDigests): void {
  if (announced === undefined || announced === sha256) return
  throw new LadeError('digest_mismatch', { expected: digestField(announced), actual: digestField(sha256) })
}
