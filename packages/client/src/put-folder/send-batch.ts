import { carHeader, carSection } from '@lade/core/dag'
import { type ErrorCode, LadeError } from '@lade/core/errors'
import type { BatchResult } from '@lade/core/wire'
import { bytesToHex } from '@noble/hashes/utils.js'
import { CID } from 'multiformats/cid'
import { concatBytes } from '../concat-bytes.ts'
import { wait } from '../http/retry.ts'
import type { FolderJob, MissingFile } from './folder-job.ts'
import { changed, readWhole } from './read-whole.ts'

const CAR_MEDIA_TYPE = 'application/vnd.ipld.car'
/** What may go better the next time, for a file as for a request. */
const PASSING: readonly ErrorCode[] = [
  'too_many_uploads',
  'over_budget',
  'storage_failed',
  'storage_offline',
  'lease_lost',
  'stage_failed',
  'internal_error',
]

/**
 * Sends small files with one request. What the service could not take for the moment is sent again.
 *
 * @returns the files that it refused for good, with the codes.
 * @throws {LadeError} `source_changed`, and what a request can.
 */
export async function sendBatch(
  job: FolderJob,
  files: readonly MissingFile[],
): Promise<readonly { readonly file: MissingFile; readonly code: ErrorCode }[]> {
  const { http, signal } = job
  const waits = http.newWaits()
  const refused: { readonly file: MissingFile; readonly code: ErrorCode }[] = []
  for (let left = files; left.length > 0; ) {
    const results = await sendOnce(job, left)
    const again: MissingFile[] = []
    let code: ErrorCode | undefined
    for (const [place, file] of left.entries()) {
      const error = results[place]?.error as ErrorCode | undefined
      if (error === undefined) continue
      if (error === 'cid_mismatch') throw changed(file.source.path)
      if (PASSING.includes(error)) {
        again.push(file)
        code = error
      } else refused.push({ file, code: error })
    }
    if (again.length < left.length) waits.renew()
    const delayMs = code === undefined ? 0 : waits.next(undefined)
    if (delayMs === undefined) return [...refused, ...again.map((file) => ({ file, code: code as ErrorCode }))]
    if (again.length > 0) await wait(delayMs, signal)
    left = again
  }
  return refused
}

async function sendOnce(job: FolderJob, files: readonly MissingFile[]): Promise<BatchResult['files']> {
  const { http, platform, keeping, claiming, meter, signal } = job
  const body = await carOf(job, files)
  await job.beforePart?.()
  signal.throwIfAborted()
  const batch = {}
  const totalBytes = files.reduce((sum, { source }) => sum + source.sizeBytes, 0)
  const { files: results } = await http.json<BatchResult>({
    method: 'POST',
    path: '/api/batches',
    headers: { 'content-type': CAR_MEDIA_TYPE, ...keeping, ...claiming },
    body: { kind: 'bytes', bytes: body },
    bodySha256: http.coversBodies ? bytesToHex(platform.sha256.of(body)) : undefined,
    onSent: (sentBytes) => meter.sending(batch, Math.min(sentBytes, totalBytes)),
    signal,
  })
  if (results.length !== files.length) {
    throw new LadeError('unexpected_answer', {
      httpStatus: 200,
      reason: `The service answered for ${results.length} of ${files.length} files.`,
    })
  }
  const taken = files.filter((_, place) => results[place]?.error === undefined)
  meter.arrived(
    batch,
    taken.length,
    taken.reduce((sum, { source }) => sum + source.sizeBytes, 0),
  )
  return results
}

/** A CAR whose blocks are the files. */
async function carOf({ platform, kept }: FolderJob, files: readonly MissingFile[]): Promise<Uint8Array<ArrayBuffer>> {
  const sections = await Promise.all(
    files.map(async ({ cid, source }) => {
      const bytes = kept.take(source) ?? (await readWhole(source, platform.readFile))
      return [carSection(CID.parse(cid), bytes.length), bytes]
    }),
  )
  return concatBytes([carHeader([]), ...sections.flat()])
}
