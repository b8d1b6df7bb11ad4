import type { Platform } from '../platform.ts'
import { readFile } from './read-file.ts'
import { digest, sha256 } from './sha256.ts'
import { createSpill } from './spill.ts'
import { browserTransport } from './transport.ts'
import { startWorker } from './worker-port.ts'

/** Browsers, and whatever else has no files: Web Crypto, workers, Blobs. */
export const platform: Platform = {
  sha256,
  digest,
  readFile,
  async openPath() {
    throw new TypeError('put() accepts a path only in Node.js. Pass a File or a Blob')
  },
  async openFolder() {
    throw new TypeError('putFolder() accepts a path only in Node.js. Pass the files of the folder')
  },
  createSpill,
  canPassBlobs: true,
  startWorker,
  transport: browserTransport,
}
