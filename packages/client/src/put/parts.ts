import type { ComposeRequest, UploadResult } from '@lade/core/wire'
import { HEADER, PART_MEDIA_TYPE } from '@lade/core/wire/headers'
import type { PartDigests } from '../hashing/part-hasher.ts'
import { type Slice, sizeOf } from '../hashing/slice.ts'
import { unixfsCidOf } from '../hashing/whole-digests.ts'
import type { PutJob } from './job.ts'
import { sendSlice } from './send.ts'

/** One part of a file, hashed. */
export interface HashedPart {
  /** Its place, from 0. */
  readonly index: number
  readonly slice: Slice
  readonly digests: PartDigests
}

/** Sees to it that the service has a part, and answers its id. */
export type DeliverPart = (part: HashedPart) => Promise<string>

/**
 * Delivers each part once: what the service has is not sent, nor is a part that is the same as another one.
 *
 * @param partDays - the term that the parts ask for.
 * @param missing - ids of parts that are sent although the service lists them, since it has said that it lost their bytes.
 */
export function partDelivery(job: PutJob, partDays: number | undefined, missing: readonly string[] = []): DeliverPart {
  const { own, progress, platform, group } = job
  const term = partDays === undefined ? {} : { [HEADER.termDays]: String(partDays) }
  const partJob = { ...job, keeping: { ...job.keeping, ...term } }
  const delivering = new Map<string, Promise<'sent' | 'found'>>()

  async function sendUnlessFound(cid: string, { index, slice, digests }: HashedPart): Promise<'sent' | 'found'> {
    const { signal } = group
    if (!missing.includes(cid) && (await own.find(cid, sizeOf(slice), signal)) !== undefined) return 'found'
    const { sha256 } = digests
    const sending = { cid, slice, sha256, contentType: PART_MEDIA_TYPE, filename: partNameOf(job, index), part: index }
    await sendSlice(partJob, { ...sending, isUnixfs: true }, signal)
    job.sentParts.add(cid)
    return 'sent'
  }

  return async (part) => {
    const cid = unixfsCidOf(part.digests, platform.sha256)
    const twin = delivering.get(cid)
    const arriving = twin ?? sendUnlessFound(cid, part)
    delivering.set(cid, arriving)
    const how = await arriving
    progress.arrived(part.index, sizeOf(part.slice), twin === undefined ? how : 'found')
    return cid
  }
}

/** Says what a part is to whoever meets it. @example 'video.mp4.part-3' */
function partNameOf({ filename = 'upload' }: PutJob, index: number): string {
  return `${filename.slice(0, 60)}.part-${index + 1}`
}

/** Makes one file of parts that the service has. */
export async function compose(job: PutJob, cid: string, parts: readonly string[]): Promise<UploadResult> {
  const { contentType, filename, keeping, claiming, group, http, progress } = job
  progress.composing()
  const json: ComposeRequest = { parts: [...parts], contentType, ...(filename === undefined ? {} : { filename }) }
  const request = {
    method: 'POST',
    path: '/api/compose',
    query: { cid },
    headers: { ...keeping, ...claiming },
    json,
  } as const
  return http.json<UploadResult>({ ...request, signal: group.signal })
}
