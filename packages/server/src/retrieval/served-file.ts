import type { ContentId } from '@lade/core/content'
import { isCarMediaType } from '@lade/core/wire'
import type { FileRecord } from '../records/record-store.ts'
import type { FoundFile } from './find-file.ts'

/** A file as one of its ids gives it back. */
export interface ServedFile {
  readonly file: FileRecord
  readonly contentType: string
  readonly filename: string | null
  /** The digest of the bytes that are given back; undefined when they are a part of the object, or nobody knows it. */
  readonly sha256: string | undefined
  /**
   * True when the id can never give other bytes. It can where they stand in for what it names: a root block for its file, a
   * CAR for its DAG, of which there are as many CARs as orders of its blocks.
   */
  readonly isSettled: boolean
}

/** How `cid`, by which it was found, gives a file back. */
export function servedFile(cid: ContentId, { file, view }: FoundFile): ServedFile {
  const { contentType, filename, sha256 } = file
  if (view === 'unixfs') {
    // What the record says of type and name is mostly said of the CAR, and not of the file in it.
    return {
      file,
      contentType: isCarMediaType(contentType) ? 'application/octet-stream' : contentType,
      filename: filename?.toLowerCase().endsWith('.car') ? null : filename,
      sha256: undefined,
      isSettled: true,
    }
  }
  const isSettled = view === 'bytes' && !(cid.form === 'cid-dag-pb' && cid.key === `dag-pb:${sha256}`)
  return { file, contentType, filename, sha256: sha256 ?? undefined, isSettled }
}
