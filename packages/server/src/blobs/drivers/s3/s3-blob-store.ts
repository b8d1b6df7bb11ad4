import { randomBytes } from 'node:crypto'
import type { BlobInfo, BlobStore, BlobStoreTraits } from '../../blob-store.ts'
import { BufferList } from '../../buffer-list.ts'
import { requireHolder, requireSha256 } from '../../store-arguments.ts'
import { S3BlobBody } from './s3-blob-body.ts'
import { S3Calls, type S3Habits } from './s3-calls.ts'
import { copyObject } from './s3-copy.ts'
import { translated } from './s3-failure.ts'
import { S3Keys } from './s3-keys.ts'
import { S3Leftovers } from './s3-leftovers.ts'
import { locateObject } from './s3-location.ts'
import { deleteObject, headObject, listKeys } from './s3-objects.ts'
import type { S3BlobStoreOptions } from './s3-options.ts'
import { S3PendingBlob } from './s3-pending-blob.ts'
import { sweepHolder } from './s3-sweep.ts'
import { Slots } from './slots.ts'

/** Parts in flight at once, of all uploads together: what they hold in memory beside the part that each one fills. */
const PARTS_IN_FLIGHT = 16
const PART_BUFFERS_KEPT = 8
const PAGE_KEYS = 1000

/** What this store is, and what it turned out to understand so far. */
export interface S3StoreTraits extends BlobStoreTraits, S3Habits {}

export interface S3BlobStore extends BlobStore {
  readonly traits: S3StoreTraits
  locate: NonNullable<BlobStore['locate']>
}

/**
 * Blobs as objects of a bucket: `<prefix>objects/<first two hex digits>/<sha256>`.
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
 * store.traits // { medium: 's3', durable: true, conditionalPuts: true, checksums: true, md5Etags: true }
 */
export async function openS3BlobStore(options: S3BlobStoreOptions): Promise<S3BlobStore> {
  const calls = new S3Calls(options)
  const { settings } = calls
  const keys = new S3Keys(settings.prefix)
  const buffers = new BufferList({ bufferBytes: settings.partBytes, keepAtMost: PART_BUFFERS_KEPT })
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

  async function begin(holder: string, sizeBytes: number, expected: string | undefined): Promise<S3PendingBlob> {
    const siblings = pendingByHolder.get(holder) ?? new Set()
    pendingByHolder.set(holder, siblings)
    const pending = await S3PendingBlob.begin({
      calls,
      keys,
      slots,
      leftovers,
      buffers,
      holder,
      id: randomBytes(12).toString('hex'),
      expected,
      sizeBytes,
      onEnd: () => siblings.delete(pending),
    })
    siblings.add(pending)
    return pending
  }

  async function* listBlobs(after: string, limit: number): AsyncGenerator<BlobInfo> {
    let left = limit
    if (left <= 0) return
    const pageSize = Math.min(PAGE_KEYS, left)
    const pages = listKeys(calls, { prefix: keys.objects, startAfter: keys.before(after), pageSize })
    for await (const { objects } of pages) {
      for (const { key, sizeBytes } of objects) {
        const sha256 = keys.digestOf(key)
        if (sha256 === undefined || sha256 <= after) continue
        yield { sha256, sizeBytes }
        left -= 1
        if (left <= 0) return
      }
    }
  }

  /** Moves a blob away, if what is there is still what was put like this. */
  async function putAway(sha256: string, putId: string): Promise<boolean> {
    const from = keys.blob(sha256)
    const to = keys.quarantined(sha256, new Date(settings.now()))
    const stored = await headObject(calls, from)
    if (stored?.putId !== putId) return false
    // No digest: that the bytes do not have theirs is why they are here.
    await copyObject(calls, { from, to, sizeBytes: stored.sizeBytes, sha256: undefined })
    // A copy takes its time, and few stores know a removal under a condition: this look is as close to it as can be.
    if ((await headObject(calls, from))?.putId === putId) {
      await deleteObject(calls, from)
      return true
    }
    await deleteObject(calls, to)
    return false
  }

  return {
    get traits() {
      return { medium: 's3', durable: true, ...calls.habits }
    },

    begin: ({ holder, sizeBytes, expected }) =>
      translated(() => {
        requireHolder(holder)
        if (expected !== undefined) requireSha256(expected)
        return begin(holder, sizeBytes, expected)
      }),

    // A bucket does not say how much it still takes; the upload that is too much is refused by the store.
    async requireRoom() {},

    open: (sha256) =>
      translated(async () => {
        requireSha256(sha256)
        const stored = await headObject(calls, keys.blob(sha256))
        return stored && new S3BlobBody(calls, keys.blob(sha256), stored, (putId) => putAway(sha256, putId))
      }),

    locate: (sha256, headers) =>
      translated(() => {
        requireSha256(sha256)
        return locateObject(calls, keys.blob(sha256), headers)
      }),

    stat: (sha256) =>
      translated(async () => {
        requireSha256(sha256)
        const stored = await headObject(calls, keys.blob(sha256))
        return stored && { sha256, sizeBytes: stored.sizeBytes }
      }),

    async *list({ after = '', limit = Number.POSITIVE_INFINITY } = {}) {
      const blobs = listBlobs(after, limit)
      for (;;) {
        const next = await translated(() => blobs.next())
        if (next.done === true) return
        yield next.value
      }
    },

    delete: (sha256, { signal } = {}) =>
      translated(() => {
        requireSha256(sha256)
        return deleteObject(calls, keys.blob(sha256), { signal })
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
