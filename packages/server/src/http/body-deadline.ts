import type { IncomingMessage } from 'node:http'

/**
 * Ends the connection of a request whose small body is not here after `deadlineMs`, however steadily it drips. Uploads
 * are watched for progress instead, since theirs may rightly take hours.
 */
export function limitBodyTime(request: IncomingMessage, deadlineMs: number): void {
  if (request.headers['content-length'] === undefined) return
  const timer = setTimeout(() => request.destroy(), deadlineMs)
  const clear = (): void => clearTimeout(timer)
  request.once('end', clear)
  request.once('close', clear)
}
