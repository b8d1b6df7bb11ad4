import { LadeError } from '@lade/core/errors'
import { termTooLong } from '../files/change-file.ts'
import type { FileRecord, RecordStore, RepeatableChange, TermChange } from '../records/record-store.ts'
import { type OwnDealInput, ownLiveDeal } from './own-deal.ts'

export interface ExtendDealInput extends OwnDealInput {
  readonly term: TermChange
  /** The longest term that the service grants, counted from the upload. */
  readonly maxTermDays: number
  readonly now: number
  /** What makes a repeated request extend the deal once; absent for a request without a key. */
  readonly once?: Omit<RepeatableChange, 'principal'> | undefined
}

/**
 * Lets one of the principal's deals end later. The deals on the chain are extended after it, when there are any. A term that is long enough
 * already stays.
 *
 * @returns the file as it is now.
 * @throws {LadeError} `not_found`, `deal_ended`, `invalid_term`, `idempotency_key_reused`.
 */
export async function extendDeal(records: RecordStore, input: ExtendDealInput): Promise<FileRecord> {
  const { principal, dealId, term, maxTermDays, now, once } = input
  const { sequence } = await ownLiveDeal(records, { principal, dealId, now })
  const outcome = await records.files.change({
    file: sequence,
    now,
    term,
    maxTermDays,
    once: once && { ...once, principal },
  })
  switch (outcome.outcome) {
    case 'changed':
      return outcome.file
    case 'too_long':
      throw termTooLong(outcome.termDays, maxTermDays)
    case 'key_reused':
      throw new LadeError('idempotency_key_reused', {})
    case 'private_members':
      throw new TypeError('a longer term changes no visibility')
    case 'ended':
      // It ended between the two.
      throw new LadeError('deal_ended', { dealStatus: 'expired' })
  }
}
