import type { IncomingMessage } from 'node:http'
import { LadeError } from '@lade/core/errors'
import { exchangeOf } from './exchange.ts'

/**
 * Ends the connection of a request whose small body is not here after `deadlineMs`, however steadily it drips. Uploads
 * are watched for progress instead, since theirs may rightly take hours. A body whose sender ends his side before its end is refused at
 * once.
 */
export function limitBodyTime(request: IncomingMessage, deadlineMs: number): void {
  if (request.headers['content-length'] === undefined) return
  const timer = setTimeout(() => request.destroy(), deadlineMs)
  const clear = (): void => clearTimeout(timer)
  request.once('end', clear)
  request.once('close', clear)
  exchangeOf(request).onBodyCut = () => {
    const isBeingRead = request.listenerCount('error') > 0
    // Whoever reads the body answers the error; the connection is still good for that.
    if (isBeingRead)
      request.emit(
        'error',
        new LadeError('bad_request', {
          reason: 'The body is shorter or longer than its Content-Length. Send the request again.',
        }),
      )
    else request.destroy()
  }
}
