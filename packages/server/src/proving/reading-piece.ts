import { LadeError } from '@lade/core/errors'

/** Nothing of the piece is here now; a composition or an upload may bring it. */
const RETRY_AFTER_SECONDS = 60

/**
 * Runs what reads a piece of this service to prove it: what the storage cannot give cannot be proved now, and perhaps later.
 *
 * @throws {LadeError} `stage_failed` with `retryAfterSeconds`, in place of other errors; the reason of the signal.
 *
 * @example
 * const bytes = await readingPiece(() => pieceBytes(deps, piece).read(0, piece.sizeBytes))
 */
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
