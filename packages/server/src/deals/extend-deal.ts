import { LadeError } from '@lade/core/errors'
import { DAY_MS } from '@lade/core/time'
import type { FileRecord, RecordStore } from '../records/record-store.ts'
import { ownLiveDeal } from './own-deal.ts'

export interface ExtendDealInput {
  readonly principal: string
  readonly dealId: string
  /** To be added to the term. */
  readonly days: number
  /** The longest term that the service grants, counted from the upload. */
  readonly maxTermDays: number
  readonly now: number
}

/**
 * Lets one of the principal's deals end later. The deals on the chain are extended after it, when there are any.
 *
 * @returns the file as it is now.
 * @throws {LadeError} `not_found`, `deal_ended`, `invalid_term`.
 */
export async function extendDeal(records: RecordStore, input: ExtendDealInput): Promise<FileRecord> {
  const { principal, dealId, days, maxTermDays, now } = input
  const file = await ownLiveDeal(records, { principal, dealId, now })
  const termDays = file.termDays + days
  if (termDays > maxTermDays) {
    const left = maxTermDays - file.termDays
    throw new LadeError('invalid_term', {
      reason: `The term is ${file.termDays} days and the maximum is ${maxTermDays}, so at most ${left} can be added.`,
    })
  }
  const expiresAt = file.expiresAt + days * DAY_MS
  const isExtended = await records.placements.extend({ file: file.sequence, now, expiresAt, termDays })
  // It ended between the two.
  if (!isExtended) throw new LadeError('deal_ended', { dealStatus: 'expired' })
  return { ...file, expiresAt, termDays }
}
