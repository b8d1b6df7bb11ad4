import type { ServerResponse } from 'node:http'
import { LadeError } from '@lade/core/errors'

/** Aborts when the client goes before it has its answer: work for nobody is in everybody's way. */
export function closedSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) {
      controller.abort(new LadeError('bad_request', { reason: 'The connection was closed before the answer.' }))
    }
  })
  return controller.signal
}
