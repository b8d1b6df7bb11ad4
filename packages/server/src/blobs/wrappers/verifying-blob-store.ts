import { LadeError } from '@lade/core/errors'
import { hexOf } from '../../hashing/hex.ts'
import { sha256 } from '../../hashing/sha256.ts'
import type { BlobStore, ByteRange, OpenBlob } from '../blob-store.ts'
import { VerifiedVersions } from './verified-versions.ts'

/** About 15 MB of digests and versions in the end. */
const VERSIONS_REMEMBERED = 65_536

/** How long a reader of wrong bytes is asked to wait: until somebody has them uploaded again, which nobody can know. */
const WRONG_RETRY_SECONDS = 60

export interface VerifyingBlobStoreOptions {
  readonly store: BlobStore
  /** Told of every blob whose bytes turned out to be wrong, before its reader is. Must not throw; nobody waits for it. */
  readonly onDamage: (sha256: string) => void
  /** How many blobs are remembered as right. @default 65_536 */
  readonly rememberAtMost?: number
}

export interface VerifyingBlobStore extends BlobStore {
  /** Believes no version of this blob any more: its next whole reader has it hashed again. */
  forget(sha256: string): void
}

/**
 * A store that gives nobody all of the wrong bytes: whoever reads a blob as a whole gets its last chunk when the digest of all
 * chunks was right, and `storage_failed` in its place when it was not. A reader that counts bytes, as HTTP does, never takes wrong bytes
 * for a complete blob.
 *
 * Bytes are hashed once for each version that the store names, on the way to their first whole reader; later readers of that version
 * get the store's own chunks, at its own speed. Where a store names no version every whole read is hashed. Windows of a blob are not
 * hashed: they cannot be verified by themselves. What the medium did to bytes after they were hashed, without a change of their version,
 * is for a scrub to find.
 *
 * @example
 * const damage = createDamageControl({ blobs: store, log, now, onWrong: (sha256) => blobs.forget(sha256) })
 * const blobs = verifyingBlobStore({ store, onDamage: (sha256) => void damage.suspect(sha256) })
 */
export function verifyingBlobStore(options: VerifyingBlobStoreOptions): VerifyingBlobStore {
  const { store, onDamage, rememberAtMost = VERSIONS_REMEMBERED } = options
  const verified = new VerifiedVersions(rememberAtMost)
  const locate = store.locate?.bind(store)

  function verifying(sha256: string, body: OpenBlob): OpenBlob {
    const { sizeBytes, version } = body
    return {
      sizeBytes,
      version,
      chunks(range) {
        const chunks = body.chunks(range)
        if (!isWhole(range, sizeBytes) || verified.has(sha256, version)) return chunks
        return hashed(chunks, sizeBytes, (actual) => {
          if (actual === sha256) verified.add(sha256, version)
          else onDamage(sha256)
          return actual === sha256
        })
      },
      quarantine: () => body.quarantine(),
      close: () => body.close(),
    }
  }

  return {
    traits: store.traits,
    begin: (request) => store.begin(request),
    requireRoom: (sizeBytes) => store.requireRoom(sizeBytes),
    async open(sha256) {
      const body = await store.open(sha256)
      return body === undefined ? undefined : verifying(sha256, body)
    },
    ...(locate !== undefined && { locate }),
    stat: (sha256) => store.stat(sha256),
    list: (request) => store.list(request),
    delete: (sha256, options) => store.delete(sha256, options),
    sweepPending: (holder) => store.sweepPending(holder),
    pendingHolders: () => store.pendingHolders(),
    check: () => store.check(),
    close: () => store.close(),
    forget: (sha256) => verified.forget(sha256),
  }
}

function isWhole(range: ByteRange | undefined, sizeBytes: number): boolean {
  return range === undefined || (range.offset === 0 && range.length === sizeBytes)
}

/** The same chunks, the last of them when `isRight` has said so of the digest of all. */
async function* hashed(
  chunks: AsyncIterable<Uint8Array>,
  sizeBytes: number,
  isRight: (actual: string) => boolean,
): AsyncGenerator<Uint8Array> {
  const digest = sha256.create()
  let readBytes = 0
  for await (const chunk of chunks) {
    if (chunk.length === 0) continue
    readBytes += chunk.length
    if (readBytes > sizeBytes) throw wrong(`gave more than the ${sizeBytes} bytes that it has`)
    digest.update(chunk)
    if (readBytes === sizeBytes && !isRight(hexOf(digest.digest()))) throw wrong('does not hash to its digest')
    yield chunk
  }
  if (readBytes < sizeBytes) throw wrong(`ended after ${readBytes} of ${sizeBytes} bytes`)
  if (sizeBytes === 0 && !isRight(hexOf(digest.digest()))) throw wrong('does not hash to its digest')
}

function wrong(what: string): LadeError<'storage_failed'> {
  return new LadeError(
    'storage_failed',
    { retryAfterSeconds: WRONG_RETRY_SECONDS },
    { cause: new Error(`a blob ${what}`) },
  )
}
