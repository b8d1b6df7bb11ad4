import type { Hashing } from '../hashing/hashing.ts'
import { openHashing } from '../hashing/open-hashing.ts'
import type { PartDigests } from '../hashing/part-hasher.ts'
import type { HexDigests } from '../hashing/running-hash.ts'
import type { KnownSource } from '../platform/known-source.ts'
import { type PutJob, wantsOf } from './job.ts'
import type { KeptHashing } from './kept-hashing.ts'

/**
 * Hashes all parts of a file in their order, each once, but for those that an earlier attempt has hashed.
 *
 * @param take - called for every part as soon as its digests are there.
 * @returns the running hashes of the whole.
 */
export async function hashParts(
  job: PutJob,
  source: KnownSource,
  kept: KeptHashing,
  take: (digests: PartDigests, index: number) => void,
): Promise<HexDigests> {
  const { limits, progress, platform, threads } = job
  const { signal } = job.group
  const { sizeBytes } = source
  const { earlier } = kept
  const parts: PartDigests[] = []
  let hashing: Hashing | undefined
  const close = () => hashing?.close()
  signal.addEventListener('abort', close, { once: true })
  try {
    for (let offsetBytes = 0; offsetBytes < sizeBytes; offsetBytes += limits.partBytes) {
      signal.throwIfAborted()
      const index = parts.length
      let digests = earlier.parts[index]
      if (digests === undefined) {
        const slice = source.slice(offsetBytes, Math.min(limits.partBytes, sizeBytes - offsetBytes))
        hashing ??= await openHashing(platform, { wants: wantsOf(job, sizeBytes), sizeBytes, sample: slice, threads })
        signal.throwIfAborted()
        digests = await hashing.part(slice, (bytes) => progress.hashed(bytes))
        kept.save({ parts: [...parts, digests], hashes: undefined })
      } else {
        progress.hashed(digests.sizeBytes)
      }
      parts.push(digests)
      take(digests, index)
    }
    const hashes = earlier.hashes ?? (await hashing?.finish()) ?? {}
    kept.save({ parts, hashes })
    return hashes
  } finally {
    signal.removeEventListener('abort', close)
    close()
  }
}
