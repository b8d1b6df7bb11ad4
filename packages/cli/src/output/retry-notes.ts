import type { RequestRetry } from '@lade/client'
import type { Terminal } from '../terminal.ts'
import { printable } from './printable.ts'
import type { Progress } from './progress.ts'

/**
 * Shorter waits are over before anybody reads about them. For a service that has never answered, the client makes no wait this long, unless
 * `Retry-After` asks for it.
 */
const LONG_WAIT_MS = 2_000
/** Requests that wait for the same thing share a line. */
const BETWEEN_NOTES_MS = 30_000

export interface RetryNotesOptions {
  readonly terminal: Pick<Terminal, 'note'>
  readonly progress: Pick<Progress, 'around'>
  /** Writes nothing. */
  readonly isQuiet: boolean
  /** A clock that only goes forward. */
  readonly nowMs?: () => number
}

/**
 * Writes to standard error why a command waits for the service: one line at most in half a minute.
 *
 * @example
 * const onRetry = retryNotes({ terminal, progress, isQuiet: false })
 * onRetry({ error, delayMs: 4_000 })
 * // Retrying. Cannot reach http://127.0.0.1:8080. The connection failed: connect ECONNREFUSED 127.0.0.1:8080.
 */
export function retryNotes({
  terminal,
  progress,
  isQuiet,
  nowMs = () => performance.now(),
}: RetryNotesOptions): (retry: RequestRetry) => void {
  let notedAt = Number.NEGATIVE_INFINITY
  return ({ error, delayMs }) => {
    if (isQuiet || delayMs < LONG_WAIT_MS || nowMs() - notedAt < BETWEEN_NOTES_MS) return
    notedAt = nowMs()
    progress.around(() => terminal.note(`Retrying. ${printable(error.message)}`))
  }
}
