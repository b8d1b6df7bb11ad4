import type { Server } from 'node:http'
import { LadeError } from '@lade/core/errors'
import type { RecordStore } from '../records/record-store.ts'
import type { StallWatch } from '../uploads/stall-watch.ts'

/** How long the records may take for the end of jobs and for leave to be taken of them. */
const LEAVE_MS = 3000

export interface DrainDeps {
  readonly server: Server
  readonly stallWatch: StallWatch
  readonly records: RecordStore
  /** How long requests may go on. */
  readonly drainMs: number
  /** Ends the jobs and everything else that was opened, once no request is under way. */
  readonly closeRest: () => Promise<void>
}

/**
 * Ends a service: listens no more, lets requests go on for `drainMs`, aborts uploads that are left then, and closes the rest.
 *
 * @throws the first failure of `closeRest`.
 */
export async function drain({ server, stallWatch, records, drainMs, closeRest }: DrainDeps): Promise<void> {
  // The turn after the poll: whoever has connected by now has been accepted, and is not cut off by the end of listening.
  await new Promise((resolve) => setImmediate(resolve))
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  const idle = setInterval(() => server.closeIdleConnections(), 50)
  server.closeIdleConnections()
  const abortTimer = setTimeout(() => {
    stallWatch.abortAll(new LadeError('shutting_down', { retryAfterSeconds: 5 }))
    setTimeout(() => server.closeAllConnections(), 1000).unref()
  }, drainMs)
  await closed
  clearInterval(idle)
  clearTimeout(abortTimer)
  // Records that do not answer would be asked again and again by each step that deregisters from them.
  const closeTimer = setTimeout(() => void records.close().catch(() => {}), LEAVE_MS)
  await closeRest()
  clearTimeout(closeTimer)
}
