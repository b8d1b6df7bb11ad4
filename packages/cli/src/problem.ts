import type { LadeError } from '@lade/core/errors'

/** An error for programs: its code, one sentence, and what it proves. */
export function problemOf(error: LadeError): Record<string, unknown> {
  const requestId = error.requestId === undefined ? {} : { requestId: error.requestId }
  return { error: error.code, detail: error.message, ...requestId, ...error.evidence }
}
