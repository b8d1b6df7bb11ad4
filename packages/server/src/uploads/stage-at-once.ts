import { LadeError } from '@lade/core/errors'
import { isCarMediaType } from '@lade/core/wire'
import type { BodyBill } from '@lade/node/budget/body-bill'
import type { BlobStore } from '../blobs/blob-store.ts'
import { type VerifiedBody, verifyWhole } from '../blobs/receive.ts'
import type { FileCommit, RecordStore } from '../records/record-store.ts'
import { type AdmitInput, agreeTerms, quotaRefusal, type SizedHead, type Terms } from './admit-upload.ts'
import { settleBill, settleFailedBill } from './body-bills.ts'
import { checkedUploadOf, fileCommitOf, type StagedUpload, stagedBy, type VerifiedUpload } from './file-commit.ts'
import { type RefuseBlockedDeps, recordUnblocked, refuseBlockedHead } from './refuse-blocked.ts'

export interface AtOnceDeps extends RefuseBlockedDeps {
  readonly records: RecordStore
  readonly blobs: BlobStore | undefined
}

export type AtOnceInput = Omit<AdmitInput, 'isStorageBound'> & {
  readonly head: SizedHead
  readonly bill?: BodyBill | undefined
}

/** An upload that is to be recorded, and what it is recorded as. */
export interface VerifiedAtOnce {
  readonly upload: VerifiedUpload
  readonly commit: FileCommit
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
  input: AtOnceInput,
  takeBody: () => Uint8Array,
): Promise<StagedUpload> {
  const { tier, head, bill } = input
  const now = deps.now()
  const terms = agreeTerms({ ...input, isStorageBound: deps.blobs !== undefined }, now)
  const uploader = { principal: tier.principal, cid: head.cid }
  await refuseBlockedHead(deps, uploader, head)
  await deps.blobs?.requireRoom(head.sizeBytes)

  const { upload, commit } = await verifyAtOnce(deps, input, { terms, inline: takeBody(), now })
  try {
    const outcome = await recordUnblocked(deps, uploader, checkedUploadOf(commit), (takedownRevision) =>
      deps.records.quotas.commitAtOnce({ admit: terms.admit, commit: { ...commit, takedownRevision } }),
    )
    const staged = stagedBy(outcome, upload, now)
    settleBill(bill, staged)
    return staged
  } catch (error) {
    settleFailedBill(bill, error)
    throw error
  }
}

/**
 * Verifies the body of an upload that is recorded in one step.
 *
 * @throws {LadeError} `digest_mismatch`, `cid_mismatch`, `invalid_car`, `incomplete_dag`, and before them what the quota says.
 */
export async function verifyAtOnce(
  deps: AtOnceDeps,
  { tier, head, bill }: AtOnceInput,
  { terms, inline, now }: { readonly terms: Terms; readonly inline: Uint8Array; readonly now: number },
): Promise<VerifiedAtOnce> {
  const { termDays, admit } = terms
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
  const upload = { tier, head, termDays, ...body, inline }
  return { upload, commit: fileCommitOf(upload, now) }
}
