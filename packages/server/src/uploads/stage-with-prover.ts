import type { Prover } from '../proving/prover.ts'
import type { UploadHead } from './admit-upload.ts'
import type { UploadTier } from './upload-tier.ts'

/**
 * Hands verified bytes to the prover. The same caller with the same bytes asks under the same key, so that a retry is
 * the same deal.
 *
 * @returns the deal id.
 * @throws {LadeError} `stage_failed`.
 */
export async function stageWithProver(
  prover: Prover,
  { tier, head, sha256 }: { readonly tier: UploadTier; readonly head: UploadHead; readonly sha256: string },
): Promise<string> {
  const idempotencyKey = `${tier.principal}/${head.cid.key}/${sha256}`
  const { dealId } = await prover.stage({ idempotencyKey, sha256, sizeBytes: head.sizeBytes })
  return dealId
}
