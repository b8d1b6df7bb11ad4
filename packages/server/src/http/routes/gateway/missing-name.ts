import { LadeError } from '@lade/core/errors'

/** The refusal of a path that leads nowhere, with the first name that is not there. */
export function missingName(segment: string | undefined): LadeError<'not_found'> {
  if (segment === undefined) return new LadeError('not_found', {})
  const name = JSON.stringify(segment.length > 100 ? `${segment.slice(0, 100)}…` : segment)
  return new LadeError('not_found', { reason: `The path leads nowhere: there is no ${name}.` })
}
