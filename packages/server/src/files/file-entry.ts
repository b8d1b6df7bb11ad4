import { pieceCidOf } from '@lade/core/content'
import type { FileEntry, UploadResult } from '@lade/core/wire'
import { type ContentBlock, reasonOf } from '../moderation/content-block.ts'
import type { FileRecord } from '../records/record-store.ts'
import { dealStatusOf, type PlacedDealStatus } from './deal-status.ts'

/** Makes the address under which a file is retrieved. */
export type RetrievalUrl = (cid: string) => string

/** A term as people read it. @example termText(1) // '1 day' */
export function termText(days: number): string {
  return days === 1 ? '1 day' : `${days} days`
}

/** Where a file stands at `now`: where its deal does, and a part of a composed file has none any more. */
export function statusOf(file: FileRecord, placed: PlacedDealStatus | undefined, now: number): FileEntry['status'] {
  return file.end === 'composed' ? 'composed' : dealStatusOf(file, placed, now).status
}

/** The id by which a deal is shown, and the synthetic one, which stays valid. */
export function dealIdsOf(
  { dealId: syntheticDealId }: FileRecord,
  placed: Pick<PlacedDealStatus, 'onchainDealId'> | undefined,
): Pick<FileEntry, 'dealId' | 'syntheticDealId'> {
  return { dealId: placed?.onchainDealId ?? syntheticDealId, syntheticDealId }
}

/** What is stored for a file: its bytes, and of a folder all that is in it. */
export function storedBytesOf({ sizeBytes, folder }: FileRecord): number {
  return sizeBytes + (folder?.memberBytes ?? 0)
}

/**
 * Where a file is retrieved. A folder that was made here has a slash at the end, so that it opens as a page, and links between its pages lead
 * into it; one that was uploaded as a CAR is retrieved as that, as ever.
 */
function addressOf({ folder }: FileRecord, cid: string, urlOf: RetrievalUrl): string {
  return folder === undefined || folder.memberBytes === 0 ? urlOf(cid) : `${urlOf(cid)}/`
}

function folderFactsOf({ folder }: FileRecord): Pick<FileEntry, 'kind' | 'files' | 'bytes'> {
  return folder === undefined ? {} : { kind: 'folder', files: folder.files, bytes: folder.bytes }
}

/** Null for a file that was staged before pieces were computed here. */
export function pieceCidOrNull({ pieceRoot, sizeBytes }: FileRecord): string | null {
  return pieceRoot === null ? null : pieceCidOf({ pieceRoot, sizeBytes })
}

/**
 * A file as the listing shows it.
 *
 * @param placed - the status of its deal; undefined for a file that nobody has begun to place.
 * @param block - why it is refused; undefined for a file that is served.
 */
export function fileEntryOf(
  file: FileRecord,
  placed: PlacedDealStatus | undefined,
  urlOf: RetrievalUrl,
  now: number,
  block?: ContentBlock | undefined,
): FileEntry {
  return {
    cid: file.cid,
    size: storedBytesOf(file),
    filename: file.filename,
    contentType: file.contentType,
    uploadedAt: new Date(file.uploadedAt).toISOString(),
    term: termText(file.termDays),
    sponsored: file.sponsored,
    ...dealIdsOf(file, placed),
    pieceCid: pieceCidOrNull(file),
    sha256: file.sha256,
    verified: file.verified,
    expiresAt: new Date(file.expiresAt).toISOString(),
    status: statusOf(file, placed, now),
    visibility: file.visibility,
    retrievalUrl: addressOf(file, file.cid, urlOf),
    ...folderFactsOf(file),
    ...(block !== undefined && { blocked: reasonOf(block) }),
  }
}

/**
 * A file as the answer to its upload shows it, under the cid that this upload used.
 *
 * @param placed - the status of its deal; undefined for a file that nobody has begun to place.
 */
export function uploadResultOf(
  file: FileRecord,
  placed: PlacedDealStatus | undefined,
  cid: string,
  urlOf: RetrievalUrl,
  now: number,
): UploadResult {
  const { dealId, syntheticDealId } = dealIdsOf(file, placed)
  return {
    cid,
    dealId,
    size: storedBytesOf(file),
    retrievalUrl: addressOf(file, cid, urlOf),
    term: termText(file.termDays),
    sponsored: file.sponsored,
    owner: file.owner,
    pieceCid: pieceCidOrNull(file),
    sha256: file.sha256,
    verified: file.verified,
    status: dealStatusOf(file, placed, now).status,
    expiresAt: new Date(file.expiresAt).toISOString(),
    syntheticDealId,
    visibility: file.visibility,
    contentType: file.contentType,
    filename: file.filename,
    ...folderFactsOf(file),
  }
}
