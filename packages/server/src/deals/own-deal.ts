import { LadeError } from '@lade/core/errors'
import type { FileRecord, RecordStore } from '../records/record-store.ts'

export interface OwnDealInput {
  readonly principal: string
  /** The synthetic id, or the decimal one of the chain. */
  readonly dealId: string
}

/**
 * The file of one of the principal's deals, the latest where it was staged again.
 *
 * @throws {LadeError} `not_found` for a deal that the principal has not, whoever else has it.
 */
export async function ownDeal(records: RecordStore, { principal, dealId }: OwnDealInput): Promise<FileRecord> {
  const file = /^[1-9][0-9]{0,77}$/.test(dealId)
    ? await onchainFile(records, { principal, dealId })
    : await records.files.byDeal({ principal, dealId })
  if (file === undefined)
    throw new LadeError('not_found', { reason: `You have no deal ${shown(dealId)}. GET /api/deals lists yours.` })
  return file
}

async function onchainFile(records: RecordStore, { principal, dealId }: OwnDealInput): Promise<FileRecord | undefined> {
  const sequence = await records.chain.fileOf({ principal, onchainId: dealId })
  return sequence === undefined ? undefined : records.files.bySequence(sequence)
}

/**
 * As `ownDeal`, for a deal that has not ended.
 *
 * @throws {LadeError} `not_found`, `deal_ended`.
 */
export async function ownLiveDeal(
  records: RecordStore,
  input: OwnDealInput & { readonly now: number },
): Promise<FileRecord> {
  const file = await ownDeal(records, input)
  const isOver = file.end === null ? file.expiresAt <= input.now : true
  if (isOver) throw new LadeError('deal_ended', { dealStatus: file.end ?? 'expired' })
  return file
}

/** What was asked for, on one line and not too long. */
function shown(dealId: string): string {
  return dealId.replace(/[^\x21-\x7e]/g, '?').slice(0, 80)
}
