import { LadeError } from '@lade/core/errors'
import type { NewOpenUpload, OpenUploadKind } from '../records/record-store.ts'
import { agreeTerms, quotaRefusal } from '../uploads/admit-upload.ts'
import { namesEmptyFile } from '../uploads/empty-file.ts'
import { refuseBlockedHead } from '../uploads/refuse-blocked.ts'
import type { UploadTier } from '../uploads/upload-tier.ts'
import { MOST_OPEN_UPLOADS, OPEN_UPLOAD_MS, type OpenUploadDeps } from './open-uploads.ts'
import { headOf, intentText, type UploadIntent } from './upload-intent.ts'

export interface CreateOpenUploadInput {
  readonly tier: UploadTier
  readonly intent: UploadIntent
  readonly kind: OpenUploadKind
  /** Undefined where a later request says it. */
  readonly sizeBytes: number | undefined
  /** What is told again to whoever asks for the upload. */
  readonly metadata: string
}

/**
 * Opens an upload that is sent in several requests. It is decided about as an upload in one request is, before its first byte, and has its
 * part of the quota until it ends.
 *
 * @throws {LadeError} as `admitUpload`, and `empty_body`.
 */
export async function createOpenUpload(
  deps: Pick<OpenUploadDeps, 'records' | 'moderation' | 'now' | 'newId'>,
  { tier, intent, kind, sizeBytes, metadata }: CreateOpenUploadInput,
): Promise<NewOpenUpload> {
  const id = deps.newId()
  const now = deps.now()
  const head = headOf(intent, { id, sizeBytes })
  if (sizeBytes === 0 && intent.cid !== undefined && !namesEmptyFile(head.cid)) throw new LadeError('empty_body', {})
  const { admit } = agreeTerms({ tier, head, isStorageBound: true }, now)
  await refuseBlockedHead(deps, { principal: tier.principal, cid: head.cid }, head)
  const expiresAt = now + OPEN_UPLOAD_MS
  const upload: NewOpenUpload = {
    id,
    principal: tier.principal,
    tier: tier.name,
    kind,
    reservationId: deps.newId(),
    sizeBytes,
    head: intentText(intent),
    metadata,
    expiresAt,
  }
  // It outlives its instance.
  const owner = { reservationId: upload.reservationId, instanceId: '', leaseUntil: expiresAt }
  const reserve = kind === 'final' ? undefined : { ...admit, ...owner, grows: sizeBytes === undefined }
  const created = await deps.records.openUploads.create({ upload, reserve, maxOpen: MOST_OPEN_UPLOADS, now })
  if (created.outcome === 'too_many_in_flight') {
    throw new LadeError('too_many_uploads', { used: created.inFlight, limit: MOST_OPEN_UPLOADS, retryAfterSeconds: 60 })
  }
  if (created.outcome !== 'reserved') {
    const asked = { tier, sizeBytes: sizeBytes ?? 1, isGrowing: sizeBytes === undefined }
    throw quotaRefusal(asked, created, now)
  }
  return upload
}
