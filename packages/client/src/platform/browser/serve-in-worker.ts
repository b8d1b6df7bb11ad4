import { serveHashing } from '../../hashing/serve-hashing.ts'
import type { WorkerCall, WorkerReply } from '../../hashing/worker-calls.ts'
import { readFile } from './read-file.ts'
import { digest, sha256 } from './sha256.ts'

/** What a dedicated worker's global scope has; core and Node know no such type. */
interface WorkerScope {
  onmessage: ((event: { readonly data: WorkerCall }) => void) | null
  postMessage(reply: WorkerReply): void
}

/** Answers what the page asks of this worker. */
export function serveInWorker(): void {
  const scope = globalThis as unknown as WorkerScope
  const serve = serveHashing({ sha256, digest, readFile }, (reply) => scope.postMessage(reply))
  scope.onmessage = ({ data }) => void serve(data)
}
