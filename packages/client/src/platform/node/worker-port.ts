import { Worker } from 'node:worker_threads'
import type { WorkerPort } from '../../hashing/worker-calls.ts'

/** A thread that hashes. It keeps the process alive while it has something to do. */
export function startWorker(): WorkerPort {
  const worker = new Worker(new URL('./hash-worker.ts', import.meta.url))
  return {
    post: (call, transfer) => worker.postMessage(call, [...transfer]),
    listen(onReply, onBroken) {
      worker.on('message', onReply)
      worker.on('error', (error) => onBroken(error instanceof Error ? error : new Error(String(error))))
      worker.on('exit', () => onBroken(new Error('the hashing thread has ended')))
    },
    end: () => void worker.terminate(),
  }
}
