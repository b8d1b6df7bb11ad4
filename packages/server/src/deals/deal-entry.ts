import type { DealEntry } from '@lade/core/wire'
import { dealStatusOf, pieceCidOrNull, type RetrievalUrl, termText } from '../files/file-entry.ts'
import type { FileRecord } from '../records/record-store.ts'

/** The deal of a file as it is shown. */
export function dealEntryOf(file: FileRecord, urlOf: RetrievalUrl, now: number): DealEntry {
  const status = dealStatusOf(file, now)
  const endedAt = file.endedAt ?? (status === 'expired' ? file.expiresAt : null)
  return {
    dealId: file.dealId,
    cid: file.cid,
    pieceCid: pieceCidOrNull(file),
    size: file.sizeBytes,
    status,
    term: termText(file.termDays),
    createdAt: new Date(file.uploadedAt).toISOString(),
    expiresAt: new Date(file.expiresAt).toISOString(),
    endedAt: endedAt === null ? null : new Date(endedAt).toISOString(),
    retrievalUrl: urlOf(file.cid),
  }
}
