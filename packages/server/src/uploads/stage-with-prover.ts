import { pieceCidOf } from '@lade/core/content'
import type { Prover } from '../proving/prover.ts'
import { pieceHandle } from '../records/object-handle.ts'
import type { UploadHead } from './admit-upload.ts'
import type { UploadTier } from './upload-tier.ts'

export interface ProverInput {
  readonly tier: UploadTier
  readonly head: Pick<UploadHead, 'cid'>
  /** Null where nobody has read the bytes as a whole. */
  readonly digests: { readonly sha256: string | null; readonly sizeBytes: number; readonly pieceRoot: string }
}

/**
 * Hands verified bytes to the prover. The same caller with the same bytes asks under the same key, whichever of their
 * names it uses, so that a retry is the same deal.
 *
 * @returns the deal id.
 * @throws {LadeError} `stage_failed`.
 */
export async function stageWithProver(prover: Prover, { tier, head, digests }: ProverInput): Promise<string> {
  const { sha256, sizeBytes } = digests
  const bytes = sha256 ?? pieceHandle(digests)
  // An opaque id is a file of its own, whatever its bytes.
  const name = !head.cid.verified ? head.cid.key : sha256 === null ? bytes : `sha256:${sha256}`
  const idempotencyKey = `${tier.principal}/${name}/${bytes}`
  const { dealId } = await prover.stage({ idempotencyKey, sha256, sizeBytes, pieceCid: pieceCidOf(digests) })
  return dealId
}
