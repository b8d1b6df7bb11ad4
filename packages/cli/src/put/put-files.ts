import type { FolderProgress, LadeClient, PutFolderResult, PutOptions, PutProgress, PutSource } from '@lade/client'
import { type ErrorCode, LadeError } from '@lade/core/errors'
import type { UploadResult } from '@lade/core/wire'
import type { Progress } from '../output/progress.ts'
import { checkKept } from './check-kept.ts'
import type { LeftOut, LocalFile, LocalFolder } from './collect-files.ts'
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

/** What is put: a file or a folder of this machine, or a stream. */
export type Item = LocalFile | LocalFolder | { readonly shown: string; readonly stream: AsyncIterable<Uint8Array> }

/** How the put of one item ended. */
export type Outcome = { readonly item: Item } & (
  | {
      readonly result: UploadResult | PutFolderResult
      readonly wasThere: boolean
      /** What of a folder is not in it. */
      readonly leftOut?: readonly LeftOut[]
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
  /** Takes files and folders whose names begin with a dot, too. */
  readonly takesHidden: boolean
  /** The service, and who puts. */
  readonly account: string
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
      const onProgress = (progress: PutProgress | FolderProgress) => counters.update(at, progress)
      const outcome = await ('folder' in item
        ? putWholeFolder(item, {
            ...options,
            concurrency: Math.max(1, Math.floor(options.jobs / items.length)),
            onProgress,
          })
        : putItem(item, { ...options, concurrency, onProgress }))
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

async function putWholeFolder(
  item: LocalFolder,
  options: PutFilesOptions & {
    readonly concurrency: number
    readonly onProgress: (progress: FolderProgress) => void
  },
): Promise<Outcome> {
  const { client, memory, account, signal, put, concurrency, onProgress, name, takesHidden } = options
  const { visibility, termDays, overDays } = put
  const leftOut: LeftOut[] = []
  try {
    const result = await client.putFolder(item.folder, {
      visibility,
      termDays,
      overDays,
      filename: name,
      hidden: takesHidden,
      onLeftOut: (shown, because) => leftOut.push({ shown, because }),
      concurrency,
      signal,
      state: await memory.folderState(item.folder, account),
      onProgress,
    })
    return { item, result, wasThere: result.sentFiles === 0, leftOut, remark: checkKept(result, put) }
  } catch (error) {
    signal.throwIfAborted()
    return { item, error }
  }
}

async function putItem(
  item: Exclude<Item, LocalFolder>,
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
