import type { UploadResult } from '@lade/core/wire'
import type { PutOptions, PutSource } from '../options.ts'
import { type KnownSource, memorySource } from '../platform/known-source.ts'
import type { Platform } from '../platform/platform.ts'
import { type PutContext, readJob } from './job.ts'
import { putParts } from './put-parts.ts'
import { putStream } from './put-stream.ts'
import { putWhole } from './put-whole.ts'
import { releaseParts } from './release-parts.ts'

/** See `LadeClient.put`. */
export async function put(context: PutContext, source: PutSource, options: PutOptions = {}): Promise<UploadResult> {
  options.signal?.throwIfAborted()
  const opened = await openSource(context.platform, source)
  const known = 'sizeBytes' in opened ? opened : undefined
  try {
    const job = readJob(context, options, known ?? { name: undefined, contentType: undefined })
    const { group, limits } = job
    try {
      const result = await ('sizeBytes' in opened
        ? opened.sizeBytes <= limits.singleMaxBytes
          ? putWhole(job, opened)
          : putParts(job, opened)
        : putStream(job, opened))
      await group.settle()
      return result
    } catch (error) {
      group.fail(error)
      // Nothing is closed that a task may still be reading; what it throws is the first failure.
      const first = await group.settle().then(
        () => error,
        (failure: unknown) => failure,
      )
      await releaseParts(job, first, !('sizeBytes' in opened))
      throw first
    } finally {
      group.close()
    }
  } finally {
    await known?.close()
  }
}

type Opened = KnownSource | AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>

async function openSource(platform: Platform, source: PutSource): Promise<Opened> {
  if (typeof source === 'string' || source instanceof URL) return platform.openPath(source)
  if (source instanceof Uint8Array || source instanceof Blob) return memorySource(source)
  if (typeof source === 'object' && source !== null && ('getReader' in source || Symbol.asyncIterator in source)) {
    return source
  }
  throw new TypeError('put takes a Blob, a Uint8Array, a stream of bytes, or the path of a file')
}
