import { LadeError } from '@lade/core/errors'
import { PRIVATE_IS_NOT_PLACED } from '../placement/challenge.ts'
import type { Prover } from '../proving/prover.ts'
import type { FileRecord, RecordStore } from '../records/record-store.ts'
import { ownLiveDeal } from './own-deal.ts'

export interface SetRedundancyInput {
  readonly principal: string
  readonly dealId: string
  readonly copies: number
  readonly now: number
}

/**
 * Says how many provers are to hold the file of a deal. More copies are made, and those too many released, afterwards.
 *
 * @throws {LadeError} `not_found`, `deal_ended`; `not_enough_provers`; `not_placed` for a private file, which no prover gets.
 */
export async function setRedundancy(
  { records, provers }: { readonly records: RecordStore; readonly provers: readonly Prover[] },
  { principal, dealId, copies, now }: SetRedundancyInput,
): Promise<FileRecord> {
  const file = await ownLiveDeal(records, { principal, dealId, now })
  const available = file.visibility === 'private' ? provers.filter(({ isLocal }) => isLocal) : provers
  if (copies > available.length)
    throw new LadeError('not_enough_provers', { asked: copies, available: available.length })
  // What nobody has begun to place yet is placed as usual first.
  if (!(await records.placements.want({ file: file.sequence, copies, now }))) {
    const reason = file.visibility === 'private' ? PRIVATE_IS_NOT_PLACED : undefined
    throw new LadeError('not_placed', { dealStatus: 'staged', ...(reason !== undefined && { reason }) })
  }
  return file
}
