import type { BlobStore, BlobStoreTraits } from '../../blob-store.ts'
import { requireBlobName, requireHolder, requirePut, requireSha256 } from '../../store-arguments.ts'
import { S3BlobBody } from './s3-blob-body.ts'
import { S3Calls, type S3Habits } from './s3-calls.ts'
import { translated } from './s3-failure.ts'
import { s3Installation } from './s3-installation.ts'
import { S3Keys } from './s3-keys.ts'
import { S3Leftovers } from './s3-leftovers.ts'
import { listBlobs } from './s3-list-blobs.ts'
import { locateObject } from './s3-location.ts'
import { deleteObject, listKeys } from './s3-objects.ts'
import type { S3BlobStoreOptions } from './s3-options.ts'
import { S3PendingBlobs } from './s3-pending-blobs.ts'
import { S3Puts } from './s3-puts.ts'

/** What this store is, and what it turned out to understand so far. */
export interface S3StoreTraits extends BlobStoreTraits, S3Habits {}

/** A blob store in a bucket. */
export interface S3BlobStore extends BlobStore {
  readonly traits: S3StoreTraits
  locate: NonNullable<BlobStore['locate']>
}

/**
 * Blobs as objects of a bucket: `<prefix>objects/<first two hex digits>/<sha256>/<put>`, each upload under a key of its own. A request
 * that a gateway executes late, such as the removal of what was there before, can only hit what it was meant for. What an older version
 * put is under its digest alone and is read there.
 *
 * A blob of at most one part is put by one request, when it is committed, and signed with its digest: the store itself refuses
 * other bytes. A larger one goes in parts, each checked by the store and its ETag compared here, and is visible after the
 * request that completes it. Every commit ends by looking at what the store holds.
 *
 * What a dead process left is found by its markers in `pending/<holder>/` and ended by `sweepPending`; a blob that is still in
 * memory leaves nothing. Several processes may share a prefix, each with a holder of its own.
 *
 * Requests that fail for a passing reason are tried again, within one budget for each call and one for the store.
 *
 * @throws {LadeError} `storage_failed` when the bucket does not answer or refuses the credentials.
 * @throws {TypeError} for options that cannot be.
 *
 * @example
 * const store = await openS3BlobStore({ bucket: 'lade', prefix: 'staging/', endpoint: 'https://s3.example' })
 * store.traits.conditionalPuts // true, until the store turns out not to know them
 */
export async function openS3BlobStore(options: S3BlobStoreOptions): Promise<S3BlobStore> {
  const calls = new S3Calls(options)
  const { settings } = calls
  const keys = new S3Keys(settings.prefix)
  const puts = new S3Puts(calls, keys)
  const leftovers = new S3Leftovers(calls, keys)
  const pending = new S3PendingBlobs({ calls, keys, puts, leftovers })

  /** The smallest request that shows that the bucket exists and the credentials are valid. */
  async function check(): Promise<void> {
    for await (const _ of listKeys(calls, { prefix: keys.objects, pageSize: 1 })) return
  }

  try {
    await translated(check)
  } catch (error) {
    await calls.close()
    throw error
  }

  return {
    get traits() {
      const locatedMs = settings.redirectSeconds * 1000
      return { medium: 's3', durable: true, keepsPuts: true, locatedMs, ...calls.habits }
    },

    installation: s3Installation(calls, keys),

    begin: (options) =>
      translated(() => {
        const { holder, expected, put } = options
        requireHolder(holder)
        if (expected !== undefined) requireSha256(expected)
        if (put !== undefined) requirePut(put)
        return pending.begin(options)
      }),

    resume: (options) =>
      translated(() => {
        requireHolder(options.holder)
        return pending.resume(options)
      }),

    // A bucket does not say how much it still takes; the upload that is too much is refused by the store.
    async requireRoom() {},

    open: (sha256) =>
      translated(async () => {
        requireSha256(sha256)
        const found = await puts.find(sha256)
        return found && new S3BlobBody({ calls, keys, puts, found })
      }),

    locate: (sha256, headers) =>
      translated(async () => {
        requireSha256(sha256)
        return locateObject(calls, keys.blob(await puts.likely(sha256)), headers)
      }),

    stat: (sha256) =>
      translated(async () => {
        requireSha256(sha256)
        const found = await puts.find(sha256)
        return found && { sha256, put: found.put, sizeBytes: found.object.sizeBytes }
      }),

    async *list({ after = '', limit = Number.POSITIVE_INFINITY } = {}) {
      const blobs = listBlobs(calls, keys, { after, limit })
      for (;;) {
        const next = await translated(() => blobs.next())
        if (next.done === true) return
        yield next.value
      }
    },

    delete: (blob, { signal } = {}) =>
      translated(async () => {
        requireBlobName(blob)
        await deleteObject(calls, keys.blob(blob), { signal })
        puts.forget(blob)
      }),

    deleteQuarantined: (sha256) =>
      translated(async () => {
        requireSha256(sha256)
        let deleted = 0
        for await (const { objects } of listKeys(calls, { prefix: keys.quarantine(sha256) })) {
          for (const { key } of objects) await deleteObject(calls, key)
          deleted += objects.length
        }
        return deleted
      }),

    sweepPending: (holder) =>
      translated(() => {
        requireHolder(holder)
        return pending.sweep(holder)
      }),

    pendingHolders: () => translated(() => pending.holders()),

    check: () => translated(check),

    async close() {
      await leftovers.close()
      await calls.close()
    },
  }
}

export type { S3BlobStoreOptions } from './s3-options.ts'
