import { hashHere, type SliceTools } from './hash-here.ts'
import { hashInWorker } from './hash-in-worker.ts'
import type { HashWants } from './hash-wants.ts'
import type { Hashing } from './hashing.ts'
import type { Slice } from './slice.ts'
import type { WorkerPort } from './worker-calls.ts'

/** Less is hashed sooner than a worker is started. */
const WORKER_MIN_BYTES = 8 * 1024 * 1024

/** What a runtime must have to hash. */
export interface HashingPlatform extends SliceTools {
  /** True when a Blob can be read in a worker. */
  readonly canPassBlobs: boolean
  /** Undefined where there are no workers. */
  startWorker(): WorkerPort | undefined
}

export interface OpenHashingOptions {
  readonly wants: HashWants
  /** Undefined while nobody knows it. */
  readonly sizeBytes: number | undefined
  /** One of the slices to come, where there is one. */
  readonly sample: Slice | undefined
  readonly threads: boolean
}

/** Begins to hash a file: in a worker where that is wanted, possible and worth it. */
export async function openHashing(platform: HashingPlatform, options: OpenHashingOptions): Promise<Hashing> {
  const { wants, sizeBytes = Number.POSITIVE_INFINITY, sample, threads } = options
  const isWorthIt = threads && sizeBytes > WORKER_MIN_BYTES
  const canCross = sample?.kind !== 'blob' || platform.canPassBlobs
  const port = isWorthIt && canCross ? platform.startWorker() : undefined
  if (port !== undefined) {
    try {
      return await hashInWorker(port, wants)
    } catch {
      // A policy of the page, or a bundle without the worker's file: this thread does it as well, and more slowly.
    }
  }
  return hashHere(wants, platform)
}
