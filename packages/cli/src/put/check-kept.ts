import type { LadeClient, PutOptions } from '@lade/client'
import { LadeError } from '@lade/core/errors'
import type { UploadResult } from '@lade/core/wire'
import { LocalError } from '../usage-error.ts'

/**
 * What of the wishes of a put was not granted, since the same bytes had been staged before and stay as they were; undefined when
 * all was.
 *
 * @throws {LocalError} when a file that was to be private is public.
 */
export async function checkKept(
  client: LadeClient,
  { cid, term }: UploadResult,
  { visibility, termDays }: Pick<PutOptions, 'visibility' | 'termDays'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (visibility === 'private') await refusePublic(client, cid, signal)
  const [, days] = /^(\d+) days?$/.exec(term) ?? []
  if (termDays === undefined || days === undefined || Number(days) === termDays) return undefined
  return `It was already uploaded and keeps its term of ${term}.`
}

async function refusePublic(client: LadeClient, cid: string, signal: AbortSignal): Promise<void> {
  try {
    const { visibility } = await client.files.get(cid, { signal })
    if (visibility === 'private') return
  } catch (error) {
    // A token that may not look cannot be told; the service grants the wish for what was not there.
    if (LadeError.has(error, 'insufficient_scope')) return
    throw error
  }
  throw new LocalError(
    `It was already uploaded as a public file and is still public. Remove it with "lade rm ${cid}" and upload it again.`,
  )
}
