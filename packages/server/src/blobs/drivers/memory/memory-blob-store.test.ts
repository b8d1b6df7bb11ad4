import { describeBlobStore } from '../../conformance.ts'
import { openMemoryBlobStore } from './memory-blob-store.ts'

describeBlobStore('memory', {
  open: async () => openMemoryBlobStore(),
  discard: (store) => store.close(),
  boundaryBytes: 65_536,
})
