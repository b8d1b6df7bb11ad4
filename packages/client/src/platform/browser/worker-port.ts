import type { WorkerCall, WorkerPort, WorkerReply } from '../../hashing/worker-calls.ts'

/** What is used here of a browser's Worker; core and Node know no such type. */
interface WebWorker {
  onmessage: ((event: { readonly data: WorkerReply }) => void) | null
  onerror: ((event: { readonly message?: string }) => void) | null
  postMessage(call: WorkerCall, transfer: readonly ArrayBuffer[]): void
  terminate(): void
}
type WebWorkerClass = new (url: URL, options: { type: 'module' }) => WebWorker

declare const Worker: WebWorkerClass

/** A worker that hashes; undefined where there are none, or the page may not start this one. */
export function startWorker(): WorkerPort | undefined {
  if (typeof Worker === 'undefined') return undefined
  let worker: WebWorker
  try {
    // Bundlers look for exactly this form.
    worker = new Worker(new URL('./hash-worker.ts', import.meta.url), { type: 'module' })
  } catch {
    return undefined
  }
  return {
    post: (call, transfer) => worker.postMessage(call, transfer),
    listen(onReply, onBroken) {
      worker.onmessage = ({ data }) => onReply(data)
      worker.onerror = ({ message }) => onBroken(new Error(message ?? 'the hashing worker could not be loaded'))
    },
    end: () => worker.terminate(),
  }
}
