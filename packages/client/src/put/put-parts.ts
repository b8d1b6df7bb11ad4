import { LadeError } from '@lade/core/errors'
import type { FileEntry, UploadResult } from '@lade/core/wire'
import type { PartDigests } from '../hashing/part-hasher.ts'
import { checkDigests, joinParts, nameOf } from '../hashing/whole-digests.ts'
import type { KnownSource } from '../platform/known-source.ts'
import { requireDayQuota } from './day-quota.ts'
import { hashParts } from './hash-parts.ts'
import type { PutJob } from './job.ts'
import { type KeptHashing, keepHashing } from './kept-hashing.ts'
import { compose, type DeliverPart, type HashedPart, partDelivery } from './parts.ts'
import { Slots } from './slots.ts'
import { withCharset } from './text-charset.ts'
import { tierLimits } from './tier-limits.ts'

/** Puts a file that can be read again in parts: one is hashed while those before it are sent. */
export async function putParts(job: PutJob, source: KnownSource): Promise<UploadResult> {
  const { sizeBytes } = source
  const limits = await tierLimits(job)
  await limits.checkSize(sizeBytes)
  job.progress.known(sizeBytes, Math.ceil(sizeBytes / job.limits.partBytes))
  const kept = await keepHashing(job, source)
  try {
    const result = await hashAndSend(job, source, kept, limits.partDays)
    await kept.clear()
    return result
  } catch (error) {
    // What was kept is of bytes that are not there any more.
    if (LadeError.has(error, 'source_changed')) await kept.clear()
    throw error
  }
}

async function hashAndSend(
  job: PutJob,
  source: KnownSource,
  kept: KeptHashing,
  partDays: number | undefined,
): Promise<UploadResult> {
  const { group, own, progress, limits } = job
  // Parts are charged: they wait where the whole may turn out to be another file, or to be there.
  const mayBeThere = await own.hasOneOfSize(source.sizeBytes, group.signal)
  const mustKnowWhole = job.expected !== undefined || mayBeThere
  if (!mayBeThere) await requireDayQuota(job, source.sizeBytes)
  const slots = new Slots(job.concurrency)
  const inTurn = async (part: HashedPart, deliver: DeliverPart): Promise<string> => {
    if (mustKnowWhole) await whole
    quota ??= mayBeThere ? requireDayQuota(job, source.sizeBytes) : undefined
    await quota
    const release = await slots.take(group.signal)
    try {
      return await deliver(part)
    } finally {
      release()
    }
  }
  let quota: Promise<void> | undefined
  const deliver = partDelivery(job, partDays)
  const parts: HashedPart[] = []
  const delivered: Promise<string>[] = []
  const take = (digests: PartDigests, index: number): void => {
    const slice = source.slice(index * limits.partBytes, digests.sizeBytes)
    const part = { index, slice, digests }
    parts.push(part)
    delivered.push(group.run(() => inTurn(part, deliver)))
  }
  const whole = group.run(() => hashAndFind(job, source, kept, { parts, take }))

  const { cid, found } = await whole
  await group.settle()
  if (found !== undefined) {
    const result = await own.resultOf(found, cid, job, job.signal)
    progress.done(source.sizeBytes, true)
    return result
  }
  await source.check()
  const all = source.slice(0, source.sizeBytes)
  const contentType = await withCharset(job.contentType, all, job.platform.readFile)
  const result = await composeAll({ ...job, contentType }, cid, await Promise.all(delivered), (missing) => {
    const deliverAgain = partDelivery(job, partDays, missing)
    return Promise.all(parts.map((part) => group.run(() => inTurn(part, deliverAgain))))
  })
  progress.done(source.sizeBytes, false)
  return result
}

interface Whole {
  readonly cid: string
  /** The caller's live file of that id, where there is one; then no part is sent any more. */
  readonly found: FileEntry | undefined
}

interface Parts {
  readonly parts: readonly HashedPart[]
  readonly take: (digests: PartDigests, index: number) => void
}

async function hashAndFind(
  job: PutJob,
  source: KnownSource,
  kept: KeptHashing,
  { parts, take }: Parts,
): Promise<Whole> {
  const { group, own, platform, expected, form } = job
  const hashes = await hashParts(job, source, kept, take)
  await source.check()
  const digests = await joinParts(
    parts.map((part) => part.digests),
    hashes,
  )
  if (expected !== undefined) checkDigests(expected, digests, platform.sha256)
  const cid = nameOf(form, digests, platform.sha256)
  const found = await own.find(cid, source.sizeBytes, group.signal)
  if (found !== undefined) group.cancel()
  return { cid, found }
}

/**
 * Composes the parts. Those that have ended since they were found, were taken for another file, or lost their bytes are sent
 * again, once.
 */
async function composeAll(
  job: PutJob,
  cid: string,
  parts: readonly string[],
  deliverAgain: (missing: readonly string[]) => Promise<readonly string[]>,
): Promise<UploadResult> {
  let missing: readonly string[]
  try {
    return await compose(job, cid, parts)
  } catch (error) {
    if (!LadeError.has(error, 'missing_parts')) throw error
    missing = error.evidence.missing
  }
  return compose(job, cid, await deliverAgain(missing))
}
