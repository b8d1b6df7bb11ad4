import type { ContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import type { FileRecord, RecordStore } from '../records/record-store.ts'

export interface FindFileInput {
  readonly cid: ContentId
  readonly now: number
  /** Whose private files may be answered; undefined for anybody. */
  readonly principal?: string | undefined
}

/**
 * The file that `/p/{cid}` serves: the earliest live public one of the object, so that nobody who comes later changes
 * what others see; else the caller's own.
 *
 * @returns `'private'` when only private files of others are live.
 * @throws {LadeError} `not_found`, `gone`, `storage_failed`.
 */
export async function findFile(records: RecordStore, input: FindFileInput): Promise<FileRecord | 'private'> {
  const { cid, now, principal } = input
  const sha256 = cid.sha256 ?? (await records.files.boundSha256(cid.key))
  if (sha256 === undefined) throw new LadeError('not_found', {})
  const serving = await records.files.serving({ sha256, now, ...(principal === undefined ? {} : { principal }) })
  switch (serving.outcome) {
    case 'found':
      return serving.file
    case 'private':
      return 'private'
    case 'gone':
      throw new LadeError('gone', { reason: serving.end })
    case 'absent':
      throw new LadeError('not_found', {})
  }
}
