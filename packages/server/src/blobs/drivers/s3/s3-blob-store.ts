import { randomBytes } from 'node:crypto'
import type { BlobInfo, BlobName, BlobStore, BlobStoreTraits } from '../../blob-store.ts'
import { BufferList } from '../../buffer-list.ts'
import { requireBlobName, requireHolder, requirePut, requireSha256 } from '../../store-arguments.ts'
import { S3BlobBody } from './s3-blob-body.ts'
import { S3Calls, type S3Habits } from './s3-calls.ts'
import { copyObject } from './s3-copy.ts'
import { translated } from './s3-failure.ts'
import { s3Installation } from './s3-installation.ts'
import { S3Keys } from './s3-keys.ts'
import { S3Leftovers } from './s3-leftovers.ts'
import { locateObject } from './s3-location.ts'
import { deleteObject, headObject, listKeys } from './s3-objects.ts'
import type { S3BlobStoreOptions } from './s3-options.ts'
import { S3PendingBlob } from './s3-pending-blob.ts'
import { S3Puts } from './s3-puts.ts'
import { sweepHolder } from './s3-sweep.ts'
import { Slots } from './slots.ts'

/** Parts in flight at once, of all uploads together: what they hold in memory beside the part that each one fills. */
const PARTS_IN_FLIGHT = 16
const PART_BUFFERS_KEPT = 8
const PAGE_KEYS = 1000

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
  const buffers = new BufferList({ bufferBytes: settings.partBytes, keepAtMost: PART_BUFFERS_KEPT })
  const puts = new S3Puts(calls, keys)
  const slots = new Slots(PARTS_IN_FLIGHT)
  const leftovers = new S3Leftovers(calls, keys)
  const pendingByHolder = new Map<string, Set<S3PendingBlob>>()

  /** The least that says that the bucket is there and the credentials are good. */
  async function check(): Promise<void> {
    for await (const _ of listKeys(calls, { prefix: keys.objects, pageSize: 1 })) return
  }

  try {
    await translated(check)
  } catch (error) {
    await calls.close()
    throw error
  }

  async function begin(options: Parameters<BlobStore['begin']>[0]): Promise<S3PendingBlob> {
    const { holder, sizeBytes, expected } = options
    const id = randomBytes(12).toString('hex')
    const put = options.put ?? id
    const siblings = pendingByHolder.get(holder) ?? new Set()
    pendingByHolder.set(holder, siblings)
    const pending = await S3PendingBlob.begin({
      calls,
      keys,
      slots,
      leftovers,
      buffers,
      holder,
      id,
      put,
      isOwnKey: options.put === undefined,
      expected,
      sizeBytes,
      onEnd(sha256) {
        siblings.delete(pending)
        if (sha256 !== undefined) puts.remember({ sha256, put })
      },
    })
    siblings.add(pending)
    return pending
  }

  async function* listBlobs(after: string, limit: number): AsyncGenerator<BlobInfo> {
    let left = limit
    let last = ''
    if (left <= 0) return
    const pageSize = Math.min(PAGE_KEYS, left + 1)
    const pages = listKeys(calls, { prefix: keys.objects, startAfter: keys.before(after), pageSize })
    for await (const { objects } of pages) {
      for (const { key, sizeBytes } of objects) {
        const name = keys.nameOf(key)
        if (name === undefined || name.sha256 <= after) continue
        if (name.sha256 !== last) {
          if (left <= 0) return
          left -= 1
          last = name.sha256
        }
        yield { ...name, sizeBytes }
      }
    }
  }

  /** Moves a blob away, unless the records have another put in its place by now, which readers get. */
  async function putAway({ sha256, put }: BlobName): Promise<boolean> {
    if (await puts.isReplaced({ sha256, put })) return false
    const from = keys.blob({ sha256, put })
    const stored = await headObject(calls, from)
    if (stored === undefined) return false
    const to = keys.quarantined(sha256, new Date(settings.now()))
    // No digest: that the bytes do not have theirs is why they are here.
    await copyObject(calls, { from, to, sizeBytes: stored.sizeBytes, sha256: undefined, isOwnKey: true })
    await deleteObject(calls, from)
    puts.forget({ sha256, put })
    return true
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
        return begin(options)
      }),

    // A bucket does not say how much it still takes; the upload that is too much is refused by the store.
    async requireRoom() {},

    open: (sha256) =>
      translated(async () => {
        requireSha256(sha256)
        const found = await puts.find(sha256)
        return found && new S3BlobBody({ calls, keys, puts, found, putAway })
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
      const blobs = listBlobs(after, limit)
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
      translated(async () => {
        requireHolder(holder)
        const inMemory = [...(pendingByHolder.get(holder) ?? [])].filter((pending) => pending.isInMemory)
        for (const pending of pendingByHolder.get(holder) ?? []) pending.sweep()
        pendingByHolder.delete(holder)
        return inMemory.length + (await sweepHolder(calls, keys, holder))
      }),

    pendingHolders: () =>
      translated(async () => {
        const holders = new Set(
          [...pendingByHolder].filter(([, pending]) => pending.size > 0).map(([holder]) => holder),
        )
        for await (const { groups } of listKeys(calls, { prefix: keys.pending, delimiter: '/' })) {
          for (const group of groups) holders.add(group.slice(keys.pending.length, -1))
        }
        return [...holders]
      }),

    check: () => translated(check),

    async close() {
      await leftovers.close()
      await calls.close()
    },
  }
}

export type { S3BlobStoreOptions } from './s3-options.ts'
