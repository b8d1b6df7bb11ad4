import { LadeError } from '@lade/core/errors'
import { afterEach, beforeEach } from 'vitest'
import type { FakeS3 } from '../../../testing/doubles/fake-s3/fake-s3.ts'
import { blobOf, HOLDER } from '../../conformance/case.ts'
import { seededBytes } from '../../conformance/seeded-bytes.ts'
import type { S3BlobStore, S3BlobStoreOptions } from './s3-blob-store.ts'
import { type FakeHome, PART_BYTES, startFakeHome } from './testing-subject.ts'

/** Of one part, and of four. */
export const SMALL = blobOf(seededBytes(1000, 1))
export const BIG = blobOf(seededBytes(PART_BYTES * 3 + 5, 2))

/** The fake server of the test that is running, and the store that is open on it. */
export interface FreshStore {
  readonly home: FakeHome
  readonly s3: FakeS3
  readonly store: S3BlobStore
  /** Puts a store with other options in its place. What was asked of the server before is forgotten. */
  reopen(options?: Partial<S3BlobStoreOptions>): Promise<void>
}

/** Gives each test of a file a server and a store of its own. */
export function useFreshStore(): FreshStore {
  let home: FakeHome
  let store: S3BlobStore

  async function open(options?: Partial<S3BlobStoreOptions>): Promise<void> {
    store = await home.open(options)
    home.s3.requests.length = 0
  }

  beforeEach(async () => {
    home = await startFakeHome()
    await open()
  })
  afterEach(async () => {
    home.s3.faults.clear()
    await store.close()
    await home.s3.close()
  })

  return {
    get home() {
      return home
    },
    get s3() {
      return home.s3
    },
    get store() {
      return store
    },
    async reopen(options) {
      await store.close()
      await open(options)
    },
  }
}

/** Stores {@link BIG}, begun with this digest as a hint. */
export async function putBig(store: S3BlobStore, expected: string | undefined): Promise<void> {
  const pending = await store.begin({ holder: HOLDER, sizeBytes: BIG.bytes.length, expected })
  await pending.write(BIG.bytes)
  await pending.commit(BIG.sha256)
}

/** Answers the `storage_failed` that `work` ends in. @throws {TypeError} for any other end. */
export async function expectStorageFailed(work: Promise<unknown>): Promise<LadeError> {
  const error = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!LadeError.has(error, 'storage_failed')) {
    throw new TypeError(`storage_failed was expected and not ${String(error)}`)
  }
  return error
}
