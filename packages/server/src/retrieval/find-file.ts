import type { ContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import type { ContentView, FileRecord, RecordStore } from '../records/record-store.ts'
import { namesPlainBytes } from './content-cid.ts'

export interface FindFileInput {
  readonly cid: ContentId
  readonly now: number
  /** Whose private files may be answered; undefined for anybody. */
  readonly principal?: string | undefined
}

/** A file, and how the cid that found it names its bytes. */
export interface FoundFile {
  readonly file: FileRecord
  readonly view: ContentView
}

/**
 * The file that `/p/{cid}` serves: the earliest live public one of the object, so that nobody who comes later changes
 * what others see; else the caller's own.
 *
 * @returns `'private'` when only private files of others are live.
 * @throws {LadeError} `not_found`, `gone`, `storage_failed`.
 */
export async function findFile(records: RecordStore, input: FindFileInput): Promise<FoundFile | 'private'> {
  const { cid, now, principal } = input
  const serving = await records.files.serving({ key: cid.key, now, ...(principal === undefined ? {} : { principal }) })
  switch (serving.outcome) {
    case 'found':
      return { file: serving.file, view: viewFor(cid, serving.view) }
    case 'private':
      return 'private'
    case 'gone':
      throw new LadeError('gone', { reason: serving.end })
    case 'absent':
      throw new LadeError('not_found', {})
  }
}

/**
 * An id of plain bytes may be known for the root of a CAR that was staged under another spelling of the same digest. It
 * still names the bytes of that block, which as a file are the block itself, and never the CAR.
 */
function viewFor(cid: ContentId, view: ContentView): ContentView {
  return view === 'car' && namesPlainBytes(cid) ? 'unixfs' : view
}
