import type { OutgoingHttpHeaders } from 'node:http'
import type { UploadHead } from '../../../uploads/admit-upload.ts'
import { applyHead } from '../../../uploads/apply-head.ts'
import type { StagedUpload } from '../../../uploads/file-commit.ts'
import type { UploadTier } from '../../../uploads/upload-tier.ts'
import type { Service } from '../../service.ts'
import { quotaHeaders } from './quota-headers.ts'

/**
 * What follows when an upload has become a file: a file that was there already becomes what the upload says of it.
 *
 * @param headers - get what is left of the quota.
 */
export async function settleStaged(
  service: Service,
  { staged, head, tier }: { readonly staged: StagedUpload; readonly head: UploadHead; readonly tier: UploadTier },
  headers: OutgoingHttpHeaders,
): Promise<StagedUpload['file']> {
  const { file: stored, isNew, isPlaced, day, usedBytes } = staged
  const file = isNew ? stored : await applyHead(service, { tier, head, file: stored })
  if (isPlaced || file !== stored) service.placementJob.wake()
  Object.assign(headers, quotaHeaders(tier, day ?? { usedBytes }, service.now()))
  return file
}
