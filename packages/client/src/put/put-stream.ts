import type { UploadResult } from '@lade/core/wire'
import type { Hashing } from '../hashing/hashing.ts'
import { openHashing } from '../hashing/open-hashing.ts'
import type { PartDigests } from '../hashing/part-hasher.ts'
import { sizeOf } from '../hashing/slice.ts'
import { checkDigests, joinParts, nameOf } from '../hashing/whole-digests.ts'
import type { KnownSource } from '../platform/known-source.ts'
import type { Spill } from '../platform/platform.ts'
import { ChunkReader } from './chunk-reader.ts'
import { type PutJob, wantsOf } from './job.ts'
import { compose, type DeliverPart, partDelivery } from './parts.ts'
import { putWhole } from './put-whole.ts'
import { Slots } from './slots.ts'
import { charsetAdded, lacksCharset, Utf8Check } from './text-charset.ts'
import { type TierLimits, tierLimits } from './tier-limits.ts'

/** Puts what comes once and of unknown length: gathered part by part, each sent as soon as it is whole. */
export async function putStream(
  job: PutJob,
  source: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>,
): Promise<UploadResult> {
  const { group } = job
  const reader = new ChunkReader(source, group.signal)
  const spills: Spill[] = []
  const newSpill = async (): Promise<Spill> => {
    const spill = await job.platform.createSpill()
    spills.push(spill)
    return spill
  }
  try {
    return await gatherAndSend(job, reader, newSpill)
  } catch (error) {
    group.fail(error)
    throw error
  } finally {
    reader.close()
    // Nothing is discarded that a task may still be reading; whatever they end by is known by now.
    await group.settle().catch(() => {})
    await Promise.all(spills.map((spill) => spill.discard()))
  }
}

async function gatherAndSend(job: PutJob, reader: ChunkReader, newSpill: () => Promise<Spill>): Promise<UploadResult> {
  const { group, limits, progress, platform, expected, form } = job
  const slots = new Slots(job.concurrency)
  let deliverPart: DeliverPart | undefined
  const sizes: number[] = []
  const digests: Promise<PartDigests>[] = []
  const delivered: Promise<string>[] = []
  let hashing: Hashing | undefined
  let tier: TierLimits | undefined
  const text = lacksCharset(job.contentType) ? new Utf8Check() : undefined
  const close = () => hashing?.close()
  group.signal.addEventListener('abort', close, { once: true })
  try {
    for (let isLast = false; !isLast; ) {
      const release = await slots.take(group.signal)
      const spill = await newSpill()
      const sizeBytes = await gather(reader, spill, limits.partBytes, text)
      isLast = sizeBytes < limits.partBytes
      if (isLast && sizes.length === 0 && sizeBytes <= limits.singleMaxBytes) {
        return await putWhole(job, spilledSource(spill))
      }
      if (sizeBytes === 0) break
      tier ??= await tierLimits(job)
      deliverPart ??= partDelivery(job, tier.partDays)
      await tier.checkSize(sizes.reduce((sum, size) => sum + size, sizeBytes))
      hashing ??= await openStreamHashing(job)
      const part = hashNext(hashing, spill, digests.at(-1))
      const index = sizes.push(sizeBytes) - 1
      digests.push(group.run(() => part))
      const deliverHere = deliverPart
      delivered.push(group.run(() => deliver(deliverHere, { index, spill, part, release })))
    }
    const total = sizes.reduce((sum, size) => sum + size, 0)
    progress.known(total, sizes.length)
    const parts = await Promise.all(digests)
    const whole = await joinParts(parts, (await hashing?.finish()) ?? {})
    if (expected !== undefined) checkDigests(expected, whole, platform.sha256)
    const cids = await Promise.all(delivered)
    const contentType = charsetAdded(job.contentType, text?.finish() === true)
    const result = await compose({ ...job, contentType }, nameOf(form, whole, platform.sha256), cids)
    progress.done(total, false)
    return result
  } finally {
    group.signal.removeEventListener('abort', close)
    close()
  }

  async function deliver(deliverPart: DeliverPart, { index, spill, part, release }: GatheredPart): Promise<string> {
    try {
      return await deliverPart({ index, slice: spill.slice(), digests: await part })
    } finally {
      await spill.discard()
      release()
    }
  }

  async function hashNext(
    hashing: Hashing,
    spill: Spill,
    before: Promise<PartDigests> | undefined,
  ): Promise<PartDigests> {
    await before
    return hashing.part(spill.slice(), (bytes) => progress.hashed(bytes))
  }
}

interface GatheredPart {
  readonly index: number
  readonly spill: Spill
  readonly part: Promise<PartDigests>
  readonly release: () => void
}

function openStreamHashing(job: PutJob): Promise<Hashing> {
  const { platform, threads } = job
  const wants = wantsOf(job, undefined)
  return openHashing(platform, { wants, sizeBytes: undefined, sample: undefined, threads })
}

/** Fills a spill up to `maxBytes`, and answers how many there were: fewer only at the end of the stream. */
async function gather(
  reader: ChunkReader,
  spill: Spill,
  maxBytes: number,
  text: Utf8Check | undefined,
): Promise<number> {
  let sizeBytes = 0
  while (sizeBytes < maxBytes) {
    const chunk = await reader.next(maxBytes - sizeBytes)
    if (chunk === undefined) break
    text?.update(chunk)
    await spill.append(chunk)
    sizeBytes += chunk.length
  }
  return sizeBytes
}

/** All of a short stream. */
function spilledSource(spill: Spill): KnownSource {
  const slice = spill.slice()
  return {
    sizeBytes: sizeOf(slice),
    name: undefined,
    contentType: undefined,
    fingerprint: undefined,
    slice: () => slice,
    check: async () => {},
    close: async () => {},
  }
}
