import { LadeError } from '@lade/core/errors'

/** Runs a read now and answers as a promise, with failures of the medium as `storage_failed`. */
export async function read<Value>(run: () => Value): Promise<Value> {
  try {
    return run()
  } catch (cause) {
    throw new LadeError('storage_failed', { retryAfterSeconds: 5 }, { cause })
  }
}
