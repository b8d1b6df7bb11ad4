import { nameLike } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import type { BlobStore } from '../blobs/blob-store.ts'
import { sha256Hex } from '../hashing/sha256.ts'
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
 * @throws {LadeError} as `admitUpload`, then `cid_mismatch`, `stage_failed`, `cid_conflict`, `insufficient_storage`,
 *   `storage_failed`.
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
  const sha256 = sha256Hex(inline)
  const { cid } = head
  if (cid.sha256 !== undefined && sha256 !== cid.sha256) {
    // Wrong bytes never reach the transaction that decides about the quota, whose refusal goes first all the same.
    const hint = await deps.records.quotas.preview(admit)
    if (hint.outcome !== 'reserved') throw quotaRefusal(tier, hint, now)
    throw new LadeError('cid_mismatch', { expected: cid.text, actual: nameLike(cid, sha256) })
  }
  const dealId = await stageWithProver(deps.prover, { tier, head, sha256 })
  const upload = { tier, head, termDays, sha256, dealId, inline }
  const outcome = await deps.records.quotas.commitAtOnce({ admit, commit: fileCommitOf(upload, now) })
  return stagedBy(outcome, upload, now)
}
