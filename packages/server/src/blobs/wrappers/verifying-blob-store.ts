import { CHUNK_BYTES, CHUNK_DIGEST_BYTES } from '@lade/node/hashing/chunk-digests'
import { sha256Hex } from '@lade/node/hashing/sha256'
import type { BlobBody, BlobStore, ByteRange, ObjectFault, OpenBlob } from '../blob-store.ts'
import { requireRange } from '../store-arguments.ts'
import { VerifiedChunks } from './verified-chunks.ts'
import { damaged, readInChunks, readWhole, spanOf } from './verified-reads.ts'

/** About 15 MB of digests and versions in the end. */
const BLOBS_REMEMBERED = 65_536
const TRUST_MS = 3_600_000
const EMPTY_SHA256 = sha256Hex(new Uint8Array())

/** Where the digests of the chunks of blobs are recorded. */
export interface ChunkRecords {
  /** Undefined for a blob whose digests are not recorded. */
  chunkDigests(request: { sha256: string; from: number; count: number }): Promise<Uint8Array | undefined>
  setChunkDigests(request: { sha256: string; digests: Uint8Array }): Promise<void>
}

/** The store to verify, what is known of its chunks, and who is told about damage. */
export interface VerifyingBlobStoreOptions {
  readonly store: BlobStore
  /** @default none are known */
  readonly chunks?: ChunkRecords
  /** Told of every blob whose bytes turned out to be wrong, before its reader is. Must not throw; nobody waits for it. */
  readonly onDamage: (sha256: string) => void
  /** Told what readers of objects found. Must not throw. */
  readonly onFault?: (fault: ObjectFault) => void
  /** Told of each range that was read without being verified, for want of digests. Must not throw. */
  readonly onUnverified?: (sha256: string) => void
  /** For how long a verified chunk is trusted without being read again; 0 has every read verified. @default one hour */
  readonly trustMs?: number
  /** A clock that never goes back, in milliseconds. @default performance.now */
  readonly now?: () => number
  /** How many blobs are remembered as right. @default 65_536 */
  readonly rememberAtMost?: number
}

/** A blob store whose reads are verified. It keeps every promise of `BlobStore`. */
export interface VerifyingBlobStore extends BlobStore {
  /** Trusts no chunk of this blob any more: its next readers have it verified again. */
  forget(sha256: string): void
}

/**
 * A store that gives nobody wrong bytes: each chunk of 1 MiB that a read has bytes of is read as a whole and compared with its digest
 * before any byte of it is handed on, and `storage_failed` comes in place of a wrong one. A blob of one chunk is compared with its own digest.
 *
 * A chunk that was verified is trusted for `trustMs` in the version that the store names: later readers get the store's own chunks, at its
 * own speed. Where a store names no version every read is verified. What the medium did meanwhile to bytes that are trusted, without a
 * change of their version, is found when the time is over.
 *
 * Of blobs without digests of their chunks, which an older version stored, ranges are handed on as they are and `onUnverified` is told.
 * Whole reads of them are hashed on the way, their last piece waits for the digest of all, and their chunks' digests are then recorded.
 *
 * @example
 * const damage = createDamageControl({ blobs: store, log, now, onWrong: (sha256) => blobs.forget(sha256) })
 * const blobs = verifyingBlobStore({ store, chunks: records.integrity, onDamage: (sha256) => void damage.suspect(sha256) })
 */
export function verifyingBlobStore(options: VerifyingBlobStoreOptions): VerifyingBlobStore {
  const { store, chunks, onDamage, onFault, onUnverified = () => {}, rememberAtMost = BLOBS_REMEMBERED } = options
  const { trustMs = TRUST_MS, now = () => performance.now() } = options
  const verified = new VerifiedChunks({ trustMs, now, rememberAtMost })
  const locate = store.locate?.bind(store)

  /** The digests of the chunks in the range; undefined when they are not known. */
  async function digestsFor(
    sha256: string,
    { sizeBytes }: BlobBody,
    range: ByteRange,
  ): Promise<Uint8Array | undefined> {
    if (sizeBytes <= CHUNK_BYTES) return Buffer.from(sha256, 'hex')
    const { first, end } = spanOf(range)
    const digests = await chunks?.chunkDigests({ sha256, from: first, count: end - first })
    if (digests === undefined || digests.length === (end - first) * CHUNK_DIGEST_BYTES) return digests
    onDamage(sha256)
    throw damaged('has too few digests of chunks')
  }

  async function* verifiedRead(sha256: string, body: BlobBody, range: ByteRange): AsyncGenerator<Uint8Array> {
    const { sizeBytes, version } = body
    if (range.length === 0) {
      if (sizeBytes > 0 || sha256 === EMPTY_SHA256) return
      onDamage(sha256)
      throw damaged('lost all of its bytes')
    }
    const readAt = now()
    const digests = await digestsFor(sha256, body, range)
    if (digests !== undefined) {
      const onRight = (index: number): void =>
        verified.add(sha256, version, { first: index, end: index + 1, sizeBytes, readAt })
      yield* readInChunks({ body, range, digests, onRight, onWrong: () => onDamage(sha256) })
      return
    }
    if (range.length < sizeBytes) {
      onUnverified(sha256)
      yield* body.chunks(range)
      return
    }
    yield* readWhole(body, (actual, chunkDigests) => {
      if (actual !== sha256) {
        onDamage(sha256)
        return false
      }
      verified.add(sha256, version, { ...spanOf(range), sizeBytes, readAt })
      // The scrub records them when this cannot.
      chunks?.setChunkDigests({ sha256, digests: chunkDigests }).catch(() => {})
      return true
    })
  }

  function verifying(sha256: string, body: OpenBlob): OpenBlob {
    const { sizeBytes, version } = body
    return {
      sizeBytes,
      version,
      chunks(asked) {
        const range = requireRange(asked, sizeBytes)
        const isTrusted = range.length > 0 && verified.has(sha256, version, spanOf(range))
        return isTrusted ? body.chunks(range) : verifiedRead(sha256, body, range)
      },
      quarantine: () => body.quarantine(),
      close: () => body.close(),
    }
  }

  return {
    traits: store.traits,
    installation: store.installation,
    begin: (request) => store.begin(request),
    resume: (options) => store.resume(options),
    requireRoom: (sizeBytes) => store.requireRoom(sizeBytes),
    async open(sha256) {
      const body = await store.open(sha256)
      return body === undefined ? undefined : verifying(sha256, body)
    },
    ...(locate !== undefined && { locate }),
    stat: (sha256) => store.stat(sha256),
    list: (request) => store.list(request),
    delete: (blob, options) => store.delete(blob, options),
    deleteQuarantined: (sha256) => store.deleteQuarantined(sha256),
    sweepPending: (holder) => store.sweepPending(holder),
    pendingHolders: () => store.pendingHolders(),
    check: () => store.check(),
    close: () => store.close(),
    ...(onFault !== undefined && { reportFault: onFault }),
    forget: (sha256) => verified.forget(sha256),
  }
}
