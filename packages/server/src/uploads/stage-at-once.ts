import { LadeError } from '@lade/core/errors'
import { isCarMediaType } from '@lade/core/wire'
import type { BlobStore } from '../blobs/blob-store.ts'
import { type VerifiedBody, verifyWhole } from '../blobs/receive.ts'
import type { Prover } from '../proving/prover.ts'
import type { RecordStore } from '../records/record-store.ts'
import { type AdmitInput, agreeTerms, quotaRefusal } from './admit-upload.ts'
import { fileCommitOf, type StagedUpload, stagedBy } from './file-commit.ts'
import { stageWithProver } from './stage-with-prover.ts'

export interface AtOnceDeps {
  readonly records: RecordStore
  readonly blobs: BlobStore | undefined
  readonly prover: Prover
  readonly now: () => number
}

/**
 * Stages a small upload whose body has arrived with its head: it is admitted, charged and recorded in one transaction,
 * and never holds a reservation.
 *
 * Only for provers that take things at once: the prover is asked before the quota has decided.
 *
 * @param takeBody - hands over the whole body; called once, when tier and storage have nothing against the upload.
 * @throws {LadeError} as `admitUpload`, then `cid_mismatch`, `invalid_car`, `incomplete_dag`, `stage_failed`,
 *   `cid_conflict`, `insufficient_storage`, `storage_failed`.
 */
export async function stageAtOnce(
  deps: AtOnceDeps,
  input: Omit<AdmitInput, 'isStorageBound'>,
  takeBody: () => Uint8Array,
): Promise<StagedUpload> {
  const { tier, head } = input
  const now = deps.now()
  const { termDays, admit } = agreeTerms({ ...input, isStorageBound: deps.blobs !== undefined }, now)
  await deps.blobs?.requireRoom(head.sizeBytes)

  const inline = takeBody()
  let body: VerifiedBody
  try {
    body = verifyWhole(inline, {
      id: head.cid,
      mayBeCar: isCarMediaType(head.contentType),
      profile: head.profile,
    })
  } catch (error) {
    if (!LadeError.is(error)) throw error
    // Wrong bytes never reach the transaction that decides about the quota, whose refusal goes first all the same.
    const hint = await deps.records.quotas.preview(admit)
    if (hint.outcome !== 'reserved') throw quotaRefusal(tier, hint, now)
    throw error
  }
  const dealId = await stageWithProver(deps.prover, { tier, head, digests: body.digests })
  const upload = { tier, head, termDays, ...body, dealId, inline }
  const outcome = await deps.records.quotas.commitAtOnce({ admit, commit: fileCommitOf(upload, now) })
  return stagedBy(outcome, upload, now)
}
