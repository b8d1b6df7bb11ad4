import type { LadeClient, PutOptions, PutProgress, PutSource } from '@lade/client'
import { type ErrorCode, LadeError } from '@lade/core/errors'
import type { UploadResult } from '@lade/core/wire'
import type { Progress } from '../output/progress.ts'
import { checkKept } from './check-kept.ts'
import type { LocalFile } from './collect-files.ts'
import { mediaTypeOf } from './media-type.ts'
import { PutCounters } from './put-counters.ts'
import type { PutMemory } from './put-memory.ts'

/** More parts of one file are never sent side by side. */
const MAXIMUM_PARTS_AT_ONCE = 4

/** Errors that meet every file of the caller alike: after one of them nothing more is tried. */
const MEETS_EVERY_FILE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'no_token',
  'invalid_token',
  'revoked_token',
  'insufficient_scope',
  'auth_offline',
  'invalid_signature',
  'chain_offline',
  'storage_offline',
  'shutting_down',
  'unreachable',
  'invalid_term',
  'invalid_visibility',
])

/** What is put: a file of this machine, or a stream. */
export type Item = LocalFile | { readonly shown: string; readonly stream: AsyncIterable<Uint8Array> }

/** How the put of one item ended. */
export type Outcome = { readonly item: Item } & (
  | {
      readonly result: UploadResult
      readonly wasThere: boolean
      /** What was asked for and not granted. */
      readonly remark: string | undefined
    }
  | { readonly error: unknown }
)

export interface PutFilesOptions {
  readonly client: LadeClient
  readonly memory: PutMemory
  readonly progress: Progress
  readonly signal: AbortSignal
  /** Requests at the same time: files side by side, and parts of one file where there are fewer files. */
  readonly jobs: number
  readonly put: Pick<PutOptions, 'cid' | 'visibility' | 'termDays' | 'overDays'>
  /** In place of the file's own name. */
  readonly name?: string | undefined
  /** In place of the type that the name lets expect. */
  readonly mediaType?: string | undefined
  /** Called as each put ends, in that order. */
  readonly onOutcome: (outcome: Outcome) => void
}

/**
 * Puts every item by itself; one that fails does not keep the others back.
 *
 * An error that would meet all the others, too, ends the whole: what has not begun is then not tried.
 *
 * @returns how many items were not tried.
 * @throws the reason of `signal`, once it is aborted.
 */
export async function putFiles(items: readonly Item[], options: PutFilesOptions): Promise<number> {
  const counters = new PutCounters(items.map((item) => ('path' in item ? item.sizeBytes : undefined)))
  const concurrency = Math.min(MAXIMUM_PARTS_AT_ONCE, Math.max(1, Math.floor(options.jobs / items.length)))
  const queue = items.entries()
  let notTried = 0
  let isHopeless = false
  const work = async (): Promise<void> => {
    for (const [at, item] of queue) {
      if (isHopeless) {
        notTried += 1
        continue
      }
      const outcome = await putItem(item, {
        ...options,
        concurrency,
        onProgress: (progress) => counters.update(at, progress),
      })
      counters.end(at, 'result' in outcome ? outcome.result.size : 0)
      isHopeless ||= 'error' in outcome && LadeError.is(outcome.error) && MEETS_EVERY_FILE.has(outcome.error.code)
      options.progress.around(() => options.onOutcome(outcome))
    }
  }
  const drawing = setInterval(() => options.progress.show(counters.view()), 100)
  try {
    await Promise.all(Array.from({ length: Math.min(options.jobs, items.length) }, work))
  } finally {
    clearInterval(drawing)
    options.progress.stop()
  }
  return notTried
}

async function putItem(
  item: Item,
  options: PutFilesOptions & { readonly concurrency: number; readonly onProgress: (progress: PutProgress) => void },
): Promise<Outcome> {
  const { client, memory, signal, put, concurrency, onProgress } = options
  const filename = options.name ?? ('path' in item ? item.name : undefined)
  let wasThere = false
  try {
    const source: PutSource = 'path' in item ? item.path : item.stream
    const result = await client.put(source, {
      ...put,
      filename,
      contentType: options.mediaType ?? mediaTypeOf(filename ?? ''),
      concurrency,
      signal,
      state: 'path' in item ? await memory.stateOf(item, put.cid ?? '') : undefined,
      onProgress: (progress) => {
        wasThere = progress.parts.sent === 0 && progress.parts.found > 0
        onProgress(progress)
      },
    })
    return { item, result, wasThere, remark: checkKept(result, put) }
  } catch (error) {
    signal.throwIfAborted()
    return { item, error }
  }
}
