import { type FakeS3, type FakeS3Options, startFakeS3 } from '../../../testing/doubles/fake-s3/fake-s3.ts'
import type { BlobStore } from '../../blob-store.ts'
import type { BlobStoreSubject } from '../../conformance.ts'
import { openS3BlobStore, type S3BlobStore, type S3BlobStoreOptions } from './s3-blob-store.ts'
import { type WatchedHandler, watchedHandler } from './testing-handler.ts'

export const PART_BYTES = 256 * 1024

/** A fake server, and how to open stores on it. */
export interface FakeHome {
  readonly s3: FakeS3
  readonly watched: WatchedHandler
  open(options?: Partial<S3BlobStoreOptions>): Promise<S3BlobStore>
  optionsOf(more?: Partial<S3BlobStoreOptions>): S3BlobStoreOptions
}

/** Starts a fake of its own. Waits between tries are short, and `partBytes` is 256 KiB. */
export async function startFakeHome(options: FakeS3Options = {}): Promise<FakeHome> {
  const s3 = await startFakeS3(options)
  const watched = watchedHandler()
  const optionsOf = (more: Partial<S3BlobStoreOptions> = {}): S3BlobStoreOptions => ({
    bucket: s3.bucket,
    prefix: 'lade/',
    endpoint: s3.url,
    region: s3.region,
    credentials: s3.credentials,
    partBytes: PART_BYTES,
    requestHandler: watched.handler(),
    ...more,
    retry: { firstWaitMs: 1, longestWaitMs: 5, ...more.retry },
  })
  return { s3, watched, optionsOf, open: (more) => openS3BlobStore(optionsOf(more)) }
}

export interface FakeSubjectOptions extends FakeS3Options {
  /** How the store is opened beside what the fake needs. */
  readonly store?: Partial<S3BlobStoreOptions>
  /** What is done to every fake before its store is opened. */
  readonly prepare?: (s3: FakeS3) => void
}

/** The S3 store as a subject of the suite. It tries each call once, so that one failure of the fake is one of the call. */
export function onFakeS3({ store: options = {}, prepare, ...fake }: FakeSubjectOptions = {}): BlobStoreSubject {
  const homes = new Map<BlobStore, FakeHome>()
  const open = async (home: FakeHome): Promise<BlobStore> => {
    const store = await home.open({ ...options, retry: { tries: 1, ...options.retry } })
    homes.set(store, home)
    return store
  }
  const homeOf = (store: BlobStore): FakeHome => {
    const home = homes.get(store)
    if (home === undefined) throw new TypeError('This store is not one of this subject.')
    return home
  }
  return {
    boundaryBytes: PART_BYTES,
    heldBackBytes: PART_BYTES,
    async open() {
      const home = await startFakeHome(fake)
      prepare?.(home.s3)
      return open(home)
    },
    async discard(store) {
      await store.close()
      await homeOf(store).s3.close()
      homes.delete(store)
    },
    reopen: (store) => open(homeOf(store)),
    breakNext: (store) => homeOf(store).s3.faults.failNext(1, { status: 500, code: 'InternalError' }),
    openHandles: (store) => homeOf(store).watched.openBodies(),
  }
}
