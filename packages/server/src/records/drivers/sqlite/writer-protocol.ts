import type { Fence } from '../../record-store.ts'
import type { WriteName } from '../../sql/writes.ts'

/** Which file the writer thread writes. */
export interface WriterSettings {
  readonly file: string
  readonly maxSizeBytes: number | undefined
}

/** One write on its way to the writer thread. */
export interface WriteCall {
  readonly name: WriteName
  readonly input: unknown
  /** Of the lease under which it is made. */
  readonly fence?: Fence
}

/** What is asked of the thread for the file that it has open. */
export type WorkMessage = readonly WriteCall[] | 'close'

/** What the thread is sent: a file to open, work for it, and its close, after which it can open another one. */
export type WriterMessage = { readonly open: WriterSettings } | WorkMessage

/** What SQLite said when a write or a commit failed. */
export interface WriteFailure {
  readonly code: string
  readonly message: string
}

export type WriteReply = { readonly output: unknown } | { readonly failure: WriteFailure }

/** One transaction: an entry a write, in the order in which they were sent. */
export interface BatchReply {
  readonly replies: readonly WriteReply[]
}

/** Said once, and not as an answer: the thread writes nothing any more. */
export interface EndReply {
  readonly ended: WriteFailure
}

/** Said once, behind all answers: the thread has closed its file, and can open another one. */
export interface ClosedReply {
  readonly closed: true
}

export function failureOf(error: unknown): WriteFailure {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'ERR_UNKNOWN'
  return { code, message: error instanceof Error ? error.message : String(error) }
}

/** True when the medium itself failed: what is on it is unknown until the files are opened again. */
export function isMediumFailure(code: string): boolean {
  return /^SQLITE_(IOERR|CORRUPT|NOTADB|READONLY_DBMOVED)/.test(code)
}
