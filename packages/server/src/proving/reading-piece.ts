import { LadeError } from '@lade/core/errors'

/** Nothing of the piece is here now; a composition or an upload may bring it. */
const RETRY_AFTER_SECONDS = 60

/** Reads a piece of this service for its proof: what the storage cannot give is what cannot be proved. It may be able to again. @throws {LadeError} `stage_failed`; the reason of the signal. */
export async function readingPiece<Result>(action: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
  try {
    return await action()
  } catch (cause) {
    signal?.throwIfAborted()
    if (!LadeError.is(cause)) throw cause
    const evidence = { reason: 'The bytes of the piece cannot be read.', retryAfterSeconds: RETRY_AFTER_SECONDS }
    throw new LadeError('stage_failed', evidence, { cause })
  }
}
