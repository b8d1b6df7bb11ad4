import { LadeError } from '@lade/core/errors'
import { detailOf, type Ending, EXIT } from './exit-code.ts'

/** An error for programs: its code, what happened and what to do next, and what it proves. */
export function problemOf(error: LadeError): Record<string, unknown> {
  const requestId = error.requestId === undefined ? {} : { requestId: error.requestId }
  return { error: error.code, detail: detailOf(error), ...requestId, ...error.evidence }
}

/** The same for whatever ends the program. What no service answered has one of five codes: usage, refused, not_found, interrupted, failed. */
export function failureOf(error: unknown, ending: Ending | undefined): Record<string, unknown> {
  if (LadeError.is(error)) return problemOf(error)
  const detail = ending?.sentence ?? (error instanceof Error ? error.message : String(error))
  return { error: CODES[ending?.exitCode ?? EXIT.failed] ?? 'failed', detail }
}

const CODES: Readonly<Record<number, string>> = {
  [EXIT.usage]: 'usage',
  [EXIT.notFound]: 'not_found',
  [EXIT.refused]: 'refused',
  [EXIT.interrupted]: 'interrupted',
}
