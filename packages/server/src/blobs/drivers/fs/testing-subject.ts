import type { BlobStore } from '../../blob-store.ts'
import type { BlobStoreSubject } from '../../conformance.ts'
import { openTempStore, type TempStore } from './testing-temp-store.ts'

export interface TempSubjectOptions {
  readonly mostBytesPerCall?: number
  /** Puts something around the store that is tested in its place. */
  readonly wrap?: (store: BlobStore) => BlobStore
}

/** The fs store as a subject of the suite, on temporary directories. */
export function onTempDir({ mostBytesPerCall, wrap = (store) => store }: TempSubjectOptions = {}): BlobStoreSubject {
  const homes = new Map<BlobStore, TempStore>()
  const homeOf = (store: BlobStore): TempStore => {
    const home = homes.get(store)
    if (home === undefined) throw new TypeError('This store is not one of this subject.')
    return home
  }
  return {
    boundaryBytes: 512 * 1024,
    async open() {
      const home = await openTempStore(mostBytesPerCall === undefined ? {} : { mostBytesPerCall })
      const store = wrap(home.store)
      homes.set(store, home)
      return store
    },
    async discard(store) {
      await store.close()
      await homeOf(store).remove()
      homes.delete(store)
    },
    async reopen(store) {
      const home = homeOf(store)
      const reopened = wrap(await home.again())
      homes.delete(store)
      homes.set(reopened, home)
      return reopened
    },
    breakNext: (store) => homeOf(store).watched.failNext('any'),
    openHandles: (store) => homeOf(store).watched.openPaths.size,
  }
}
