import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ErrorEvidence, LadeError } from '@lade/core/errors'
import { exchangeOf } from '../../exchange.ts'
import type { Service } from '../../service.ts'

/** The body of an upload that is being read, watched for its progress. */
export interface WatchedBody {
  /** Aborted when the body is cut short, or stalls. */
  readonly signal: AbortSignal
  /** Call when bytes are wanted: from here on it is the caller who takes time. */
  readonly onReady: () => void
  readonly onProgress: (totalBytes: number) => void
  readonly receivedBytes: () => number
  /** Call in the end, whatever it is. */
  readonly end: () => void
}

/**
 * Watches the body of a request.
 *
 * @param sizeBytes - as declared; undefined where the end of the body tells.
 * @param cutEvidence - what a refusal says of a body that is cut short.
 */
export function watchBody(
  { stallWatch }: Pick<Service, 'stallWatch'>,
  request: IncomingMessage,
  response: ServerResponse,
  {
    sizeBytes,
    cutEvidence,
  }: {
    readonly sizeBytes: number | undefined
    readonly cutEvidence: (receivedBytes: number) => ErrorEvidence['incomplete_body']
  },
): WatchedBody {
  const controller = new AbortController()
  let isReady = false
  const watched = stallWatch.watch(controller, () => isReady && !request.isPaused(), sizeBytes)
  let receivedBytes = 0
  const exchange = exchangeOf(request)
  exchange.onBodyCut = () => controller.abort(new LadeError('incomplete_body', cutEvidence(receivedBytes)))
  if (exchange.isBodyCut) exchange.onBodyCut()
  // From here on it is the store that takes its time, not the caller.
  request.once('end', () => watched.end())
  return {
    signal: controller.signal,
    onReady: () => {
      isReady = true
      if (request.headers.expect !== undefined) response.writeContinue()
    },
    onProgress: (totalBytes) => {
      receivedBytes = totalBytes
      watched.progress(totalBytes)
    },
    receivedBytes: () => receivedBytes,
    end: () => watched.end(),
  }
}
