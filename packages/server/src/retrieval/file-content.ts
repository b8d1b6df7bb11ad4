import type { ContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import type { WorkBudget } from '@lade/node/budget/work-budget'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { Moderation } from '../moderation/moderation.ts'
import type { RecordStore } from '../records/record-store.ts'
import type { BlockReadings } from './block-readings.ts'
import type { FoundFile } from './find-file.ts'
import { findPlace, type ObjectPlace } from './find-place.ts'
import { locateFile } from './locate-file.ts'
import type { FileContent } from './open-bytes.ts'
import { checkObject, openObject } from './open-object.ts'
import { openUnixfsContent } from './unixfs-content.ts'

export interface FileContentDeps {
  readonly records: RecordStore
  /** Undefined when no storage backend is bound. */
  readonly blobs: BlobStore | undefined
  readonly now: () => number
  readonly moderation: Pick<Moderation, 'content'>
  readonly blockReadings: BlockReadings
  readonly budget: WorkBudget
}

/**
 * What `cid`, by which the file was found, gives back of it: the object, or the UnixFS file in it.
 *
 * @param principal - who reads, and pays for what reading a DAG takes besides sending the bytes.
 * @throws {LadeError} `storage_offline`, `storage_failed`, `over_budget`.
 */
export async function openContent(
  deps: FileContentDeps,
  cid: ContentId,
  found: FoundFile,
  principal: string,
): Promise<FileContent> {
  const { records, blobs } = deps
  const { file, view } = found
  if (blobs === undefined) throw new LadeError('storage_offline', { retryAfterSeconds: 60 })
  if (view === 'unixfs') return openUnixfsContent({ ...deps, blobs, principal }, cid, file)
  let place: Promise<ObjectPlace> | undefined
  const find = (): Promise<ObjectPlace> => {
    place ??= findPlace(records, file.object)
    return place
  }
  return {
    sizeBytes: file.sizeBytes,
    open: () => openObject({ records, blobs }, file, find),
    locate: (headers) => locateFile({ records, blobs }, found, headers, find),
    check: () => checkObject({ records, blobs }, file),
    close: async () => {},
  }
}
