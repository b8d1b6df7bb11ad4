import type { ContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import type { FileRecord, RecordStore, ServedView } from '../records/record-store.ts'
import { namesPlainBytes } from './content-cid.ts'

export interface FindFileInput {
  readonly cid: ContentId
  readonly now: number
  /** Whose own files come first, private ones among them; undefined for anybody. */
  readonly principal?: string | undefined
}

/** A file, and how the cid that found it names its bytes. */
export interface FoundFile {
  readonly file: FileRecord
  readonly view: ServedView
}

/**
 * The file that `/p/{cid}` serves: the caller's own; else the earliest live public one of a token or a wallet, else the earliest live
 * sponsored one. So nobody who comes later changes what others see, and nobody without an account what an account's link shows.
 *
 * @throws {LadeError} `not_found`, also for private files of others; `gone`, `storage_failed`.
 */
export async function findFile(records: RecordStore, input: FindFileInput): Promise<FoundFile> {
  const { cid, now, principal } = input
  const serving = await records.files.serving({ key: cid.key, now, ...(principal === undefined ? {} : { principal }) })
  switch (serving.outcome) {
    case 'found':
      return { file: serving.file, view: viewFor(cid, serving.view) }
    case 'gone':
      throw new LadeError('gone', { reason: serving.end })
    case 'absent':
      // The same for everything, so that nobody learns which private files there are.
      throw new LadeError('not_found', {})
  }
}

/**
 * An id of plain bytes may be known for the root of a CAR that was staged under another spelling of the same digest. It
 * still names the bytes of that block, which as a file are the block itself, and never the CAR. So does one of a block inside of a CAR.
 */
function viewFor(cid: ContentId, view: ServedView): ServedView {
  return (view === 'car' || view === 'inside') && namesPlainBytes(cid) ? 'unixfs' : view
}
