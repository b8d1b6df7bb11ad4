import { LadeError } from '@lade/core/errors'
import type { FileRecord, RecordStore } from '../records/record-store.ts'
import { type OwnFileInput, ownLiveFile } from './own-file.ts'

/**
 * Ends the principal's file: it leaves the listing at once and is served no more under any name. What was charged for
 * it today stays charged. The bytes go with the last file that needs them.
 *
 * @throws {LadeError} `not_found`, `gone` when it has ended already.
 */
export async function removeFile(records: RecordStore, input: OwnFileInput): Promise<FileRecord> {
  await ownLiveFile(records, input)
  const removed = await records.files.remove({ principal: input.principal, key: input.cid.key, now: input.now })
  // Someone else's request removed it in between.
  if (removed === undefined) throw new LadeError('gone', { reason: 'removed' })
  return removed
}
