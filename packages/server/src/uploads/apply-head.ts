import { changeFile } from '../files/change-file.ts'
import type { FileRecord, RecordStore } from '../records/record-store.ts'
import type { UploadHead } from './admit-upload.ts'
import type { UploadTier } from './upload-tier.ts'

/**
 * Has a file that the caller had already become what its upload says of it. A sponsored file stays as it is, since neighbours share its
 * principal.
 *
 * @returns the file as it is now.
 * @throws {LadeError} as `changeFile`.
 */
export async function applyHead(
  { records, now }: { readonly records: RecordStore; readonly now: () => number },
  {
    tier,
    head,
    file,
  }: {
    readonly tier: UploadTier
    readonly head: Pick<UploadHead, 'visibility' | 'contentType' | 'filename' | 'termDays'>
    readonly file: FileRecord
  },
): Promise<FileRecord> {
  const { rights, maxTermDays } = tier
  if (tier.name === 'sponsored' || rights === undefined) return file
  const { visibility, contentType, termDays } = head
  const wanted = { visibility, contentType, termDays, filename: head.filename ?? undefined }
  return changeFile(records, { file, wanted, rights, maxTermDays, now: now() })
}
