import { LadeError } from '@lade/core/errors'

/** A COMMIT was under way when the connection broke, and nobody could be asked in time what became of it. */
export class OutcomeUnknown extends Error {
  constructor(cause: unknown) {
    super('The database connection broke during a COMMIT, and its outcome cannot be determined.', {
      cause,
    })
    this.name = 'OutcomeUnknown'
  }
}

/**
 * True for the failure of a write that may have been made all the same. Whoever is answered so and gives up undoes it later.
 *
 * @example
 * const cause = new OutcomeUnknown(new Error('Connection terminated unexpectedly'))
 * mayHaveBeenMade(new LadeError('storage_failed', { retryAfterSeconds: 5 }, { cause })) // true
 */
export function mayHaveBeenMade(error: unknown): boolean {
  return LadeError.is(error) && error.cause instanceof OutcomeUnknown
}
