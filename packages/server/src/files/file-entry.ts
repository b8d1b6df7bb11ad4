import { pieceCidOf } from '@lade/core/content'
import type { FileEntry, UploadResult } from '@lade/core/wire'
import type { FileRecord } from '../records/record-store.ts'

/** Makes the address under which a file is retrieved. */
export type RetrievalUrl = (cid: string) => string

/** A term as people read it. @example termText(1) // '1 day' */
export function termText(days: number): string {
  return days === 1 ? '1 day' : `${days} days`
}

/** Where a file stands at `now`: where its deal does, and a part of a composed file has none any more. */
export function statusOf(file: FileRecord, now: number): DealStatus | 'composed' {
  return file.end === 'composed' ? 'composed' : dealStatusOf(file, now)
}

/** What is known of a deal today: a prover that proves nothing leaves that of a live file `staged`. */
export type DealStatus = 'staged' | 'expired' | 'removed'

/** Where the deal of a file stands at `now`. */
export function dealStatusOf(file: FileRecord, now: number): DealStatus {
  if (file.end !== null) return file.end === 'expired' ? 'expired' : 'removed'
  return file.expiresAt <= now ? 'expired' : 'staged'
}

/** Null for a file that was staged before pieces were computed here. */
export function pieceCidOrNull({ pieceRoot, sizeBytes }: FileRecord): string | null {
  return pieceRoot === null ? null : pieceCidOf({ pieceRoot, sizeBytes })
}

/** A file as the listing shows it. */
export function fileEntryOf(file: FileRecord, urlOf: RetrievalUrl, now: number): FileEntry {
  return {
    cid: file.cid,
    size: file.sizeBytes,
    filename: file.filename,
    contentType: file.contentType,
    uploadedAt: new Date(file.uploadedAt).toISOString(),
    term: termText(file.termDays),
    sponsored: file.sponsored,
    dealId: file.dealId,
    pieceCid: pieceCidOrNull(file),
    sha256: file.sha256,
    verified: file.verified,
    expiresAt: new Date(file.expiresAt).toISOString(),
    status: statusOf(file, now),
    visibility: file.visibility,
    retrievalUrl: urlOf(file.cid),
  }
}

/** A file as the answer to its upload shows it, under the cid that this upload used. */
export function uploadResultOf(file: FileRecord, cid: string, urlOf: RetrievalUrl, now: number): UploadResult {
  return {
    cid,
    dealId: file.dealId,
    size: file.sizeBytes,
    retrievalUrl: urlOf(cid),
    term: termText(file.termDays),
    sponsored: file.sponsored,
    owner: file.owner,
    pieceCid: pieceCidOrNull(file),
    sha256: file.sha256,
    verified: file.verified,
    status: dealStatusOf(file, now),
    expiresAt: new Date(file.expiresAt).toISOString(),
  }
}
