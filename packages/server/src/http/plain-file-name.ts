import { LadeError } from '@lade/core/errors'
import { parseFileName } from '@lade/core/wire'

/**
 * Reads a file name of a JSON body, which is not percent-encoded.
 *
 * @throws {LadeError} `invalid_filename`.
 */
export function plainFileName(name: string): string {
  // What is no text cannot be percent-encoded.
  if (!name.isWellFormed()) throw new LadeError('invalid_filename', { reason: 'The file name is not valid Unicode.' })
  return parseFileName(encodeURIComponent(name))
}
