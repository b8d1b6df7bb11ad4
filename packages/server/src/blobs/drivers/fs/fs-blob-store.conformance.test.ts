import type { BlobStore } from '../../blob-store.ts'
import { type BlobStoreSubject, describeBlobStore } from '../../conformance.ts'
import { openTempStore, type TempStore } from './temp-store.ts'

/** The fs store as a subject of the suite, on temporary directories. */
function onTempDir(options?: { mostBytesPerCall: number }): BlobStoreSubject {
  const homes = new Map<BlobStore, TempStore>()
  const homeOf = (store: BlobStore): TempStore => {
    const home = homes.get(store)
    if (home === undefined) throw new TypeError('This store is not one of this subject.')
    return home
  }
  return {
    boundaryBytes: 512 * 1024,
    async open() {
      const home = await openTempStore(options)
      homes.set(home.store, home)
      return home.store
    },
    async discard(store) {
      await store.close()
      await homeOf(store).remove()
      homes.delete(store)
    },
    async reopen(store) {
      const home = homeOf(store)
      const reopened = await home.again()
      homes.delete(store)
      homes.set(reopened, home)
      return reopened
    },
    breakNext: (store) => homeOf(store).watched.failNext('any'),
    openHandles: (store) => homeOf(store).watched.openPaths.size,
  }
}

describeBlobStore('fs', onTempDir())
describeBlobStore('fs, on a kernel that moves few bytes per call', onTempDir({ mostBytesPerCall: 40_001 }))
