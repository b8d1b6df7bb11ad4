import type { PutOptions } from '@lade/client'
import type { UploadResult } from '@lade/core/wire'
import { LocalError } from '../usage-error.ts'

/**
 * What of the wishes of a put was not granted: a term is never shortened, and older services leave a file that is there as it was.
 *
 * @returns undefined when all was granted.
 * @throws {LocalError} when a file that was to be private is public.
 */
export function checkKept(
  { cid, term, visibility: access }: UploadResult,
  { visibility, termDays }: Pick<PutOptions, 'visibility' | 'termDays'>,
): string | undefined {
  if (visibility === 'private' && access === 'public') {
    throw new LocalError(
      `It was already uploaded as a public file and is still public. Remove it with "lade rm ${cid}" and upload it again.`,
    )
  }
  const [, days] = /^(\d+) days?$/.exec(term) ?? []
  if (termDays === undefined || days === undefined || Number(days) === termDays) return undefined
  return `It was already uploaded and keeps its term of ${term}.`
}
