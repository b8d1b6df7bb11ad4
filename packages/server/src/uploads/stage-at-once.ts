import { LadeError } from '@lade/core/errors'
import { isCarMediaType } from '@lade/core/wire'
import type { BodyBill } from '@lade/node/budget/body-bill'
import type { BlobStore } from '../blobs/blob-store.ts'
import { type VerifiedBody, verifyWhole } from '../blobs/receive.ts'
import type { ProverStaging } from '../placement/stage-at-prover.ts'
import type { RecordStore } from '../records/record-store.ts'
import { type AdmitInput, agreeTerms, quotaRefusal, type SizedHead } from './admit-upload.ts'
import { settleBill, settleFailedBill } from './body-bills.ts'
import { checkedUploadOf, fileCommitOf, type StagedUpload, stagedBy } from './file-commit.ts'
import { type RefuseBlockedDeps, recordUnblocked, refuseBlockedHead } from './refuse-blocked.ts'

export interface AtOnceDeps extends RefuseBlockedDeps {
  readonly records: RecordStore
  readonly blobs: BlobStore | undefined
  readonly proverStaging: ProverStaging
}

/**
 * Stages a small upload whose body has arrived with its head: it is admitted, charged and recorded in one transaction,
 * and never holds a reservation.
 *
 * Only for uploads that are not handed to a prover before they are answered.
 *
 * @param takeBody - hands over the whole body; called once, when tier and storage have nothing against the upload.
 * @throws {LadeError} as `admitUpload`, then `digest_mismatch`, `cid_mismatch`, `invalid_car`, `incomplete_dag`, `blocked`, `caller_blocked`, `cid_conflict`, `insufficient_storage`, `storage_failed`.
 */
export async function stageAtOnce(
  deps: AtOnceDeps,
  input: Omit<AdmitInput, 'isStorageBound'> & { readonly head: SizedHead; readonly bill?: BodyBill | undefined },
  takeBody: () => Uint8Array,
): Promise<StagedUpload> {
  const { tier, head, bill } = input
  const now = deps.now()
  const { termDays, admit } = agreeTerms({ ...input, isStorageBound: deps.blobs !== undefined }, now)
  const uploader = { principal: tier.principal, cid: head.cid }
  await refuseBlockedHead(deps, uploader, head)
  await deps.blobs?.requireRoom(head.sizeBytes)

  const inline = takeBody()
  let body: VerifiedBody
  try {
    body = verifyWhole(inline, {
      id: head.cid,
      sha256: head.sha256,
      mayBeCar: isCarMediaType(head.contentType),
      profile: head.profile,
      bill,
    })
  } catch (error) {
    settleFailedBill(bill, error)
    if (!LadeError.is(error)) throw error
    // Wrong bytes never reach the transaction that decides about the quota, whose refusal goes first all the same.
    const hint = await deps.records.quotas.preview(admit)
    if (hint.outcome !== 'reserved') throw quotaRefusal({ tier, sizeBytes: inline.length }, hint, now)
    throw error
  }
  const { sha256 } = body.digests
  const dealId = deps.proverStaging.dealId({ principal: tier.principal, key: head.cid.key, object: sha256 })
  const upload = { tier, head, termDays, ...body, dealId, inline }
  const commit = fileCommitOf(upload, now)
  try {
    const outcome = await recordUnblocked(deps, uploader, checkedUploadOf(commit), (takedownRevision) =>
      deps.records.quotas.commitAtOnce({ admit, commit: { ...commit, takedownRevision } }),
    )
    const staged = stagedBy(outcome, upload, now)
    settleBill(bill, staged)
    return staged
  } catch (error) {
    settleFailedBill(bill, error)
    throw error
  }
}
