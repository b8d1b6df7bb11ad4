import type { Platform } from '../platform.ts'
import { openFolder } from './open-folder.ts'
import { openPath } from './path-source.ts'
import { readFile } from './read-file.ts'
import { digest, sha256 } from './sha256.ts'
import { createSpill } from './spill.ts'
import { nodeTransport } from './transport.ts'
import { startWorker } from './worker-port.ts'

/** Node: node:crypto, threads, files. */
export const platform: Platform = {
  sha256,
  digest,
  readFile,
  openPath,
  openFolder,
  createSpill,
  // A slice of a Blob of a file ends the whole process when it is read in another thread than its own.
  canPassBlobs: false,
  startWorker,
  transport: nodeTransport,
}
