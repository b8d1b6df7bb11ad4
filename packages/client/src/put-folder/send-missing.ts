import { LadeError } from '@lade/core/errors'
import { put } from '../put/put.ts'
import type { FolderJob, MissingFile } from './folder-job.ts'
import { isOneBlock } from './hash-files.ts'
import { changed } from './read-whole.ts'
import { sendBatch } from './send-batch.ts'

/** Of one request. Larger ones are no faster, and more is lost when one breaks. */
const BATCH_BYTES = 4 * 1024 * 1024
const BATCH_FILES = 500
/** What stands before the bytes of a file in a CAR: its length and its CID. */
const SECTION_BYTES = 40
/** More parts of one file are never sent side by side. */
const MAX_PARTS_AT_ONCE = 4

/**
 * Sends files, each once: small ones many at a time, others by themselves, several requests side by side. The first that is refused ends
 * the put; what was sent stays.
 *
 * @throws {LadeError} as `put`.
 */
export async function sendMissing(job: FolderJob, missing: readonly MissingFile[]): Promise<void> {
  const tasks = tasksOf(missing)
  const lanes = Math.min(job.concurrency, tasks.length)
  const partsAtOnce = Math.min(MAX_PARTS_AT_ONCE, Math.max(1, Math.floor(job.concurrency / Math.max(1, tasks.length))))
  const queue = tasks.values()
  const work = async (): Promise<void> => {
    for (const task of queue) {
      job.signal.throwIfAborted()
      if (Array.isArray(task)) await putBatch(job, task)
      else await putAlone(job, task as MissingFile, partsAtOnce)
    }
  }
  for (let lane = 0; lane < lanes; lane += 1) void job.group.run(work).catch(() => {})
  await job.group.settle()
}

type Task = readonly MissingFile[] | MissingFile

/** Large files first, since they take longest. */
function tasksOf(missing: readonly MissingFile[]): readonly Task[] {
  const large = missing.filter(({ source }) => !isOneBlock(source))
  const batches: MissingFile[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const file of missing) {
    if (!isOneBlock(file.source)) continue
    const sizeBytes = file.source.sizeBytes + SECTION_BYTES
    let batch = batches.at(-1)
    if (batch === undefined || bytes + sizeBytes > BATCH_BYTES || batch.length === BATCH_FILES) {
      batch = []
      batches.push(batch)
      bytes = 0
    }
    batch.push(file)
    bytes += sizeBytes
  }
  return [...large, ...batches]
}

async function putBatch(job: FolderJob, files: readonly MissingFile[]): Promise<void> {
  // By itself, a file gets the whole error, or is taken after all.
  for (const { file } of await sendBatch(job, files)) await putAlone(job, file, 1)
}

async function putAlone(job: FolderJob, { cid, source }: MissingFile, concurrency: number): Promise<void> {
  const { options, meter, signal } = job
  const { visibility, termDays, overDays, claim, beforePart } = options
  const what = {}
  try {
    await put(job, source.source, {
      expectedCid: cid,
      filename: null,
      contentType: 'application/octet-stream',
      visibility,
      termDays,
      overDays,
      claim,
      beforePart,
      concurrency,
      signal,
      onProgress: ({ sentBytes }) => meter.sending(what, sentBytes),
    })
  } catch (error) {
    if (!LadeError.has(error, 'cid_mismatch') && !LadeError.has(error, 'source_changed')) throw error
    throw changed(source.path, { cause: error })
  }
  meter.arrived(what, 1, source.sizeBytes)
}
