import { LadeError } from '@lade/core/errors'
import { DAY_MS } from '@lade/core/time'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { OpenUploadRecord, RecordStore } from '../records/record-store.ts'
import type { StageDeps } from '../uploads/stage-upload.ts'
import { RunningHashers } from './running-hashers.ts'
import { Writers } from './writers.ts'

/** How long an upload stays open after the last bytes of it. */
export const OPEN_UPLOAD_MS = DAY_MS
/** How many uploads of a principal are open at a time. */
export const MOST_OPEN_UPLOADS = 256

const HOLDER = 'open-'

/** What this process has in hand of uploads in several requests. */
export interface OpenUploadsInHand {
  readonly writers: Writers
  readonly hashers: RunningHashers
}

export interface OpenUploadDeps extends StageDeps {
  readonly openUploads: OpenUploadsInHand
  /** A doubt counts for the living. */
  readonly isAlive: (instanceId: string) => Promise<boolean>
  readonly newId: () => string
}

export function createOpenUploads(): OpenUploadsInHand {
  return { writers: new Writers(), hashers: new RunningHashers() }
}

/** Who has the bytes of an upload in the blob store. */
export function holderOf(id: string): string {
  return `${HOLDER}${id}`
}

/** The upload whose bytes a holder has; undefined for a holder that is an instance. */
export function uploadOfHolder(holder: string): string | undefined {
  return holder.startsWith(HOLDER) ? holder.slice(HOLDER.length) : undefined
}

/**
 * The upload, for whoever created it.
 *
 * @throws {LadeError} `not_found`, also for the upload of somebody else; `storage_failed`.
 */
export async function findOpenUpload(
  { records, now }: { readonly records: Pick<RecordStore, 'openUploads'>; readonly now: () => number },
  { id, principal }: { readonly id: string; readonly principal: string },
): Promise<OpenUploadRecord> {
  const upload = await records.openUploads.find({ id, now: now() })
  if (upload?.principal !== principal) throw noSuchUpload()
  return upload
}

/**
 * The same for somebody who asks where it continues: the request that writes to it ends first, so that the offset that is told is good.
 *
 * @throws {LadeError} `not_found`, `storage_failed`.
 */
export async function askAboutOpenUpload(
  deps: Pick<EndDeps, 'records' | 'openUploads' | 'now'>,
  request: { readonly id: string; readonly principal: string },
): Promise<OpenUploadRecord> {
  await findOpenUpload(deps, request)
  await deps.openUploads.writers.end(request.id)
  return findOpenUpload(deps, request)
}

export function noSuchUpload(): LadeError<'not_found'> {
  const reason =
    'There is no such upload, it expired or was terminated, or other credentials created it. Start the upload again.'
  return new LadeError('not_found', { reason })
}

export interface EndDeps {
  readonly records: Pick<RecordStore, 'openUploads'>
  readonly blobs: Pick<BlobStore, 'sweepPending'> | undefined
  readonly openUploads: OpenUploadsInHand
  readonly now: () => number
}

/** Ends an upload that is not to be continued: its reservation is returned, its bytes are removed. Upkeep removes what cannot be removed now. */
export async function endOpenUpload({ records, blobs, openUploads, now }: EndDeps, id: string): Promise<void> {
  await records.openUploads.end({ id, now: now() })
  openUploads.hashers.drop(id)
  await blobs?.sweepPending(holderOf(id)).catch(() => {})
}

/**
 * Terminates an upload at the request of whoever created it; a request that writes to it ends first. The file that it has become stays.
 *
 * @throws {LadeError} `not_found`, `storage_failed`.
 */
export async function terminateOpenUpload(
  deps: EndDeps,
  request: { readonly id: string; readonly principal: string },
): Promise<void> {
  const { id } = await findOpenUpload(deps, request)
  await deps.openUploads.writers.end(id)
  await endOpenUpload(deps, id)
}
