import { LadeError } from '@lade/core/errors'

const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u

/**
 * The label of a token as it is kept: trimmed, not empty, on one line that reads in the order in which it is written.
 *
 * @throws {LadeError} `invalid_label`.
 */
export function labelOf(text: string): string {
  const label = text.trim()
  if (label === '') throw new LadeError('invalid_label', { reason: 'It is empty.' })
  if (CONTROLS.test(label)) throw new LadeError('invalid_label', { reason: 'It contains control characters.' })
  return label
}
