import { parseContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { sha256Hex } from '@lade/node/hashing/sha256'
import type { Logger } from 'pino'
import type { FileRecord } from '../records/record-store.ts'
import { directoryRootOf, filesBelow, type ReadingDeps, readingDirectory } from './directory-reading.ts'

/** Set once everything that is older than folders has been counted. */
const MARK = 'folders-counted'
const DAG_PB = 0x70
const FILES_AT_ONCE = 50
/** Who pays for the reading: nobody who could be held back by it. */
const PRINCIPAL = 'service:folders'

export interface CountFoldersDeps extends ReadingDeps {
  readonly log: Logger
}

/** A walk through old files that goes on beside the requests. */
export interface Counting {
  /** Resolves when nothing is read any more. What was not counted is when the service starts again. */
  stop(): Promise<void>
}

/**
 * Counts what is in directories that were uploaded as CARs by a version that knew no folders, so that they are shown as folders. Once for an
 * installation; CARs that come now are counted at the door.
 */
export function countOldFolders(deps: CountFoldersDeps): Counting {
  const ended = new AbortController()
  const counting = count(deps, ended.signal).catch((error: unknown) => {
    if (!ended.signal.aborted)
      deps.log.error({ err: error }, 'old folders could not be counted; the next start goes on')
  })
  return {
    async stop() {
      ended.abort(new LadeError('shutting_down', { retryAfterSeconds: 1 }))
      await counting
    },
  }
}

async function count(deps: CountFoldersDeps, signal: AbortSignal): Promise<void> {
  const { records, blobs, log } = deps
  if (blobs === undefined || (await records.inventory.mark(MARK)) !== undefined) return
  let counted = 0
  for (let after = 0; ; ) {
    const files = await records.folders.uncounted({ after, limit: FILES_AT_ONCE })
    for (const file of files) {
      signal.throwIfAborted()
      after = file.sequence
      const facts = await contentOf(deps, file, signal)
      if (facts === undefined) continue
      await records.folders.setCounted({ file: file.sequence, ...facts })
      counted += 1
    }
    if (files.length < FILES_AT_ONCE) break
  }
  await records.inventory.setMark({ name: MARK, value: 'yes' })
  if (counted > 0) log.info({ folders: counted }, 'directories that were uploaded as CARs are folders now')
}

/** What is in the directory that a file is; undefined for other DAGs, and for what is blocked or too big to be walked. */
async function contentOf(
  deps: CountFoldersDeps,
  file: FileRecord,
  signal: AbortSignal,
): Promise<{ readonly files: number; readonly bytes: number } | undefined> {
  const id = parseContentId(file.cid, sha256Hex)
  if (Number(id.cid?.codec ?? 0n) !== DAG_PB) return undefined
  const root = directoryRootOf(id)
  try {
    return await readingDirectory(deps, { file, principal: PRINCIPAL, signal }, async (reader) => {
      const { answer: node } = await reader.read(root, { ask: 'node' })
      if (node.kind !== 'directory' && node.kind !== 'hamt') return undefined
      let [files, bytes] = [0, 0]
      for await (const { sizeBytes } of filesBelow(root, reader)) {
        files += 1
        bytes += sizeBytes
      }
      return { files, bytes }
    })
  } catch (error) {
    if (LadeError.has(error, 'not_acceptable') || LadeError.has(error, 'blocked')) return undefined
    throw error
  }
}
