import { Worker } from 'node:worker_threads'
import { WorkerThread } from '@lade/node/hashing/worker-thread'
import type { ReadingAnswer, ReadingCall } from './reading-call.ts'

/** More than the worst block of 2 MiB takes. */
const LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 }

/** The near side of the thread that reads blocks. */
export class ReadingThread extends WorkerThread<ReadingCall, ReadingAnswer> {
  constructor() {
    const worker = new Worker(new URL('./reading-worker.ts', import.meta.url), { resourceLimits: LIMITS })
    super(worker, 'thread that reads blocks')
  }

  /** @throws {Error} why the block cannot be read, or why the thread has ended. */
  read({ question, codec, bytes }: ReadingCall): Promise<ReadingAnswer> {
    // The bytes may be sent to a client later on, so that a copy crosses over.
    const copy = new Uint8Array(bytes)
    return this.post({ question, codec, bytes: copy }, [copy.buffer])
  }
}
