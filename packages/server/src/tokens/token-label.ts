import { LadeError } from '@lade/core/errors'

/** As the schema of a signup has it, which only requests meet. */
const MAXIMUM_LENGTH = 100

const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u

/**
 * The label of a token as it is kept: trimmed, not empty, on one line that reads in the order in which it is written.
 *
 * @throws {LadeError} `invalid_label`.
 */
export function labelOf(text: string): string {
  const label = text.trim()
  const { length } = [...label]
  if (length > MAXIMUM_LENGTH) {
    const reason = `label has ${length} characters; the limit is ${MAXIMUM_LENGTH}.`
    throw new LadeError('invalid_label', { reason })
  }
  if (label === '') throw new LadeError('invalid_label', { reason: 'label is empty. Send a name for the token.' })
  if (CONTROLS.test(label)) throw new LadeError('invalid_label', { reason: 'label contains control characters.' })
  return label
}
