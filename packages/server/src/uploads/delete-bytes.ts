import type { BlobStore } from '../blobs/blob-store.ts'
import { type DiscardDeps, discardDigest } from './discard-objects.ts'

export type DeleteBytesDeps = Omit<DiscardDeps, 'blobs'> & { readonly blobs: BlobStore | undefined }

/** Deletes what is not to be kept for anybody, also what is in quarantine. Upkeep tries again to delete what cannot be now. */
export async function deleteBytes(
  { blobs, ...deps }: DeleteBytesDeps,
  digests: readonly string[],
  onFailure: (error: unknown) => void,
): Promise<void> {
  if (blobs === undefined) return
  for (const sha256 of digests) {
    await discardDigest({ ...deps, blobs }, sha256).catch(onFailure)
    await blobs.deleteQuarantined(sha256).catch(onFailure)
  }
}
