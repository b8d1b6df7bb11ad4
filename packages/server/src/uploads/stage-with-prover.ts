import { type ContentDigests, pieceCidOf } from '@lade/core/content'
import type { Prover } from '../proving/prover.ts'
import type { UploadHead } from './admit-upload.ts'
import type { UploadTier } from './upload-tier.ts'

/**
 * Hands verified bytes to the prover. The same caller with the same bytes asks under the same key, whichever of their
 * names it uses, so that a retry is the same deal.
 *
 * @returns the deal id.
 * @throws {LadeError} `stage_failed`.
 */
export async function stageWithProver(
  prover: Prover,
  { tier, head, digests }: { readonly tier: UploadTier; readonly head: UploadHead; readonly digests: ContentDigests },
): Promise<string> {
  const { sha256, sizeBytes } = digests
  // An opaque id is a file of its own, whatever its bytes.
  const name = head.cid.verified ? `sha256:${sha256}` : head.cid.key
  const idempotencyKey = `${tier.principal}/${name}/${sha256}`
  const { dealId } = await prover.stage({ idempotencyKey, sha256, sizeBytes, pieceCid: pieceCidOf(digests) })
  return dealId
}
