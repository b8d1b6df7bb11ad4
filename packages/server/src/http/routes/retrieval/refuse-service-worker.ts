import type { IncomingMessage } from 'node:http'
import { LadeError } from '@lade/core/errors'

/**
 * A page of this origin must not install uploaded content as its service worker.
 *
 * @throws {LadeError} `bad_request`.
 * @see https://specs.ipfs.tech/http-gateways/path-gateway/#service-worker-request-header
 */
export function refuseServiceWorker(request: IncomingMessage): void {
  if (request.headers['service-worker'] === 'script') {
    throw new LadeError('bad_request', { reason: 'Uploaded files cannot be service workers.' })
  }
}
