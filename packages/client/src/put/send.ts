import { LadeError } from '@lade/core/errors'
import type { UploadResult } from '@lade/core/wire'
import { HEADER } from '@lade/core/wire/headers'
import type { Slice } from '../hashing/slice.ts'
import type { PutJob } from './job.ts'

/** One file, or one part of a file, that is sent. */
export interface Sending {
  readonly cid: string
  readonly slice: Slice
  /** In hex, where it was wanted. */
  readonly sha256: string | undefined
  readonly contentType: string
  readonly filename?: string | undefined
  /** True for an id of the import profile `unixfs-v1-2025`, so that no other has to be tried. */
  readonly isUnixfs: boolean
  /** For this body alone. @default none */
  readonly headers?: Readonly<Record<string, string>>
  /** Its place among the parts of the file. */
  readonly part: number
}

/**
 * Uploads one body under its id.
 *
 * @throws {LadeError} `source_changed` when the bytes that arrived are not those that were hashed.
 */
export async function sendSlice(job: PutJob, sending: Sending, signal: AbortSignal): Promise<UploadResult> {
  const { cid, slice, sha256, contentType, filename, isUnixfs, headers, part } = sending
  await job.beforePart?.()
  signal.throwIfAborted()
  try {
    return await job.http.json<UploadResult>({
      method: 'POST',
      path: '/api/upload',
      query: { cid, profile: isUnixfs ? 'unixfs-v1-2025' : undefined },
      headers: {
        'content-type': contentType,
        ...(filename === undefined ? {} : { [HEADER.filename]: encodeURIComponent(filename.toWellFormed()) }),
        ...job.keeping,
        ...headers,
      },
      body: slice,
      bodySha256: sha256,
      onSent: (sentBytes) => job.progress.sending(part, sentBytes),
      signal,
    })
  } catch (error) {
    if (!LadeError.has(error, 'cid_mismatch') && !LadeError.has(error, 'digest_mismatch')) throw error
    const reason = 'The service received bytes that differ from the hashed ones. Upload the file again.'
    throw new LadeError('source_changed', { reason }, { cause: error, requestId: error.requestId })
  }
}
