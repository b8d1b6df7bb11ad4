import type { LadeError } from '@lade/core/errors'
import { detailOf } from './exit-code.ts'

/** An error for programs: its code, what happened and what to do next, and what it proves. */
export function problemOf(error: LadeError): Record<string, unknown> {
  const requestId = error.requestId === undefined ? {} : { requestId: error.requestId }
  return { error: error.code, detail: detailOf(error), ...requestId, ...error.evidence }
}
