import { LadeError } from '@lade/core/errors'
import type { UploadResult } from '@lade/core/wire'
import { openHashing } from '../hashing/open-hashing.ts'
import { checkDigests, joinParts, nameOf, type WholeDigests } from '../hashing/whole-digests.ts'
import type { KnownSource } from '../platform/known-source.ts'
import { type PutJob, wantsOf } from './job.ts'
import { sendSlice } from './send.ts'
import { withCharset } from './text-charset.ts'

/** Sending less takes no longer than asking whether it has to be sent. */
const ASK_MIN_BYTES = 64 * 1024

/** Puts a file that is sent in one piece. */
export async function putWhole(job: PutJob, source: KnownSource): Promise<UploadResult> {
  const { sizeBytes } = source
  const { progress, platform, own, form, group } = job
  if (sizeBytes === 0 && form === 'piece')
    throw new LadeError('empty_body', {}, { detail: 'An empty file has no piece CID. Choose another kind of id.' })
  progress.known(sizeBytes, 1)
  const slice = source.slice(0, sizeBytes)
  const digests = await group.run(() => hashWhole(job, source))
  await source.check()
  if (job.expected !== undefined) checkDigests(job.expected, digests, platform.sha256)
  const cid = nameOf(form, digests, platform.sha256)

  const { signal } = group
  const found = sizeBytes < ASK_MIN_BYTES ? undefined : await own.find(cid, sizeBytes, signal)
  if (found !== undefined) {
    const result = await own.resultOf(found, cid, job, signal)
    progress.done(sizeBytes, true)
    return result
  }
  const { filename } = job
  const contentType = await group.run(() => withCharset(job.contentType, slice, platform.readFile))
  const { sha256 } = digests.hashes
  const file = { cid, slice, sha256, contentType, filename, headers: job.claiming }
  const sending = { ...file, isUnixfs: form === 'unixfs', part: 0 }
  const result = await group.run(() => sendSlice(job, sending, signal))
  progress.arrived(0, sizeBytes, 'sent')
  progress.done(sizeBytes, false)
  return result
}

async function hashWhole(job: PutJob, source: KnownSource): Promise<WholeDigests> {
  const { sizeBytes } = source
  const slice = source.slice(0, sizeBytes)
  const wants = wantsOf(job, sizeBytes)
  const hashing = await openHashing(job.platform, { wants, sizeBytes, sample: slice, threads: job.threads })
  const close = () => hashing.close()
  job.group.signal.addEventListener('abort', close, { once: true })
  try {
    job.group.signal.throwIfAborted()
    const part = await hashing.part(slice, (bytes) => job.progress.hashed(bytes))
    return await joinParts([part], await hashing.finish())
  } finally {
    job.group.signal.removeEventListener('abort', close)
    close()
  }
}
