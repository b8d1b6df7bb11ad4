/**
 * The client as one file, for `<script type="module">`. The same file is the worker that hashes big files: the client starts
 * it again, with {@link WORKER_FRAGMENT} at the end of its URL.
 */
import { serveInWorker } from './serve-in-worker.ts'

export * from '../../client.ts'

/** What tells the worker from the page. `tools/packages/bundle.ts` writes it into the worker's URL. */
const WORKER_FRAGMENT = '#lade-hash-worker'

/** What is used here of a worker's global scope; core and Node know no such types. */
interface Scope {
  readonly document?: unknown
  readonly location?: { readonly hash: string }
}

const { document, location } = globalThis as Scope
if (document === undefined && location?.hash === WORKER_FRAGMENT) serveInWorker()
