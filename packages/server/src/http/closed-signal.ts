import type { ServerResponse } from 'node:http'
import { LadeError } from '@lade/core/errors'

/**
 * Aborts when the connection ends before the client has its answer: work for nobody is in everybody's way. A client that has only ended its
 * own side may still be reading, and is answered.
 */
export function closedSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) {
      controller.abort(new LadeError('bad_request', { reason: 'The connection was closed before the response.' }))
    }
  })
  return controller.signal
}
