import { type ErrorCode, LadeError } from '@lade/core/errors'
import type { PutJob } from './job.ts'

/** Longer than this, nobody who has given up waits. */
const RELEASE_MS = 10_000

/** Errors after which the same put, begun again, would not come to its end: what was sent for it is of no use. */
const FINAL: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'cid_conflict',
  'cid_mismatch',
  'incomplete_dag',
  'insufficient_scope',
  'invalid_cid',
  'invalid_content_type',
  'invalid_filename',
  'invalid_parts',
  'invalid_term',
  'invalid_visibility',
  'source_changed',
  'stage_failed',
  'too_large',
])

/**
 * Removes the parts that a put has sent, when it is given up for good: after an error that comes again, or for a stream, which nobody can
 * send again. Otherwise they stay for the same put, begun again, until their short term ends.
 *
 * @param isStream - true for a source that can be read once.
 */
export async function releaseParts(
  { sentParts, http, overDays }: PutJob,
  error: unknown,
  isStream: boolean,
): Promise<void> {
  const isFinal = LadeError.is(error) && FINAL.has(error.code)
  if (sentParts.size === 0 || http.caller === undefined || !(isFinal || (isStream && !overDays))) return
  const signal = AbortSignal.timeout(RELEASE_MS)
  const remove = (cid: string): Promise<unknown> => http.send({ method: 'DELETE', path: `/api/files/${cid}`, signal })
  // What cannot be removed now ends with its term. The caller needs the first error.
  await Promise.allSettled([...sentParts].map(remove))
}
