import { LadeError } from '@lade/core/errors'
import type { FileRecord, RecordStore } from '../records/record-store.ts'

/**
 * The file of one of the principal's deals, the latest where it was staged again.
 *
 * @throws {LadeError} `not_found` for a deal that the principal has not, whoever else has it.
 */
export async function ownDeal(
  records: RecordStore,
  deal: { readonly principal: string; readonly dealId: string },
): Promise<FileRecord> {
  const file = await records.files.byDeal(deal)
  if (file === undefined) throw new LadeError('not_found', {})
  return file
}
