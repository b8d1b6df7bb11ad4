/**
 * A command line, variable or file of settings that cannot be followed. Its message is one sentence that says what to do
 * instead, and the program ends with 2.
 *
 * @example
 * throw new UsageError('photos is a folder. Add -r to upload its files.')
 */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Something on this machine that is not as the command needs it. Ends the program with 1. */
export class LocalError extends Error {
  override readonly name = 'LocalError'
}
